/** The parts of a double as bits, for taking a product apart into a number in [1,2) and an exponent. */

/** 2⁵² as bits, and 2⁵² + 1023 as a number: they turn an exponent field into a number. */
export const MAGIC: i64 = 0x4330000000000000;
export const MAGIC_BIAS: f64 = 4503599627370496.0 + 1023.0;
export const MANTISSA: i64 = 0x000fffffffffffff;
export const ONE: i64 = 0x3ff0000000000000;
