import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { faultOfKeys } from "./json-keys.ts";

const fault = (text: string) => faultOfKeys(text, JSON.parse(text))?.received;

describe("faultOfKeys", () => {
  it("finds a key that stands twice in one object, however it is written", () => {
    expect(fault('{"a":1,"b":2,"a":3}')).toBe('"a" twice');
    expect(fault('{"x":[{"k":1},{"k":2, "\\u006b" : 3}]}')).toBe('"k" twice');
    expect(fault('{"a":{"a":{"a":1}}}')).toBeUndefined();
  });

  it("says which object of a list it is in", () => {
    const text = '[{"a":1},{"a":"\\":","b":{"c":1,"d":[{}]}},{"a":1,"a":2}]';
    expect(faultOfKeys(text, JSON.parse(text))).toEqual({ key: "a", received: '"a" twice', object: 3 });
  });

  it("finds __proto__ and leaves the prototype of all objects alone", () => {
    expect(fault('{"a":{"__proto__":{"polluted":1}}}')).toBe("__proto__");
    expect(fault('{"a":"__proto__"}')).toBeUndefined();
    expect(Object.keys(Object.prototype)).toEqual([]);
  });

  it("finds nothing in what JSON.stringify writes", () => {
    const hard = fc.constantFrom('"', "\\", '":', "{", '\\"', "a:b", "\u2028");
    const text = fc.oneof(
      fc.string(),
      fc.array(hard, { maxLength: 4 }).map((parts) => parts.join("")),
    );
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { depthSize: "small" },
        text,
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.array(tie("value"), { maxLength: 4 }),
        fc.dictionary(
          text.filter((key) => key !== "__proto__"),
          tie("value"),
          { maxKeys: 4 },
        ),
      ),
    }));
    fc.assert(
      fc.property(value, (data) => {
        expect(fault(JSON.stringify(data))).toBeUndefined();
      }),
    );
  });
});
