"""The canonical text of a model file, of which its checksum is taken: sorted keys, numbers as JavaScript writes them."""

from __future__ import annotations

import json
import math
import zlib
from typing import Any


def js_number(x: float) -> str:
    """A number as JavaScript writes it.

    >>> [js_number(x) for x in (1.0, 0.1, 1e21, 1e-7, 123456789012345680000.0, -0.0)]
    ['1', '0.1', '1e+21', '1e-7', '123456789012345680000', '-0']
    """
    if x == 0:
        return "-0" if math.copysign(1, x) < 0 else "0"
    sign, digits, exponent = ("-" if x < 0 else ""), *_shortest(abs(x))
    point = len(digits) + exponent
    if 0 < point <= 21:
        body = digits + "0" * exponent if exponent >= 0 else f"{digits[:point]}.{digits[point:]}"
    elif -6 < point <= 0:
        body = "0." + "0" * -point + digits
    else:
        power = point - 1
        head = digits if len(digits) == 1 else f"{digits[0]}.{digits[1:]}"
        body = f"{head}e{'+' if power > 0 else '-'}{abs(power)}"
    return sign + body


def _shortest(x: float) -> tuple[str, int]:
    """Digits and exponent of the shortest text that reads as x: x = digits * 10**exponent."""
    mantissa, _, power = f"{x!r}".partition("e")
    whole, _, part = mantissa.partition(".")
    digits, exponent = whole + part, int(power or 0) - len(part)
    stripped = digits.rstrip("0")
    exponent += len(digits) - len(stripped)
    return stripped.lstrip("0"), exponent


def canonical(value: Any) -> str:
    """The canonical text of a value, as the checksum is taken of it."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{canonical(k)}:{canonical(value[k])}" for k in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return js_number(float(value))
    return json.dumps(value, ensure_ascii=False)


def checksum(value: Any) -> str:
    """CRC-32 of the canonical text in UTF-16, as eight hexadecimal digits."""
    return f"{zlib.crc32(canonical(value).encode('utf-16-le', 'surrogatepass')):08x}"
