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
    expect(faultOfKeys(text, JSON.parse(text))).toMatchObject({ key: "a", received: '"a" twice', object: 3 });
  });

  it("finds __proto__ and leaves the prototype of all objects alone", () => {
    expect(fault('{"a":{"__proto__":{"polluted":1}}}')).toBe("__proto__");
    expect(fault('{"a":"__proto__"}')).toBeUndefined();
    expect(Object.keys(Object.prototype)).toEqual([]);
  });

  it("tells nesting without end by its place, and walks through it without a stack", () => {
    const nested = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;
    const objects = (depth: number) => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;
    expect([fault(nested(200)), fault(objects(200))]).toEqual([undefined, undefined]);
    expect(fault(nested(201))).toBe("JSON nested more than 200 deep at character 201");
    expect(fault(`{"x":"]",  "y":${nested(100_000)}}`)).toBe("JSON nested more than 200 deep at character 215");
    expect(fault(objects(100_000))).toBe("JSON nested more than 200 deep at character 1001");
    expect(faultOfKeys(`[{},${nested(300)}]`, JSON.parse(`[{},${nested(300)}]`))).toMatchObject({ object: 1 });
  });

  it("looks through a text of many MB with escapes", () => {
    const long = JSON.stringify({ a: `${"x\\".repeat(2 ** 22)}\u0001`, b: 1 });
    expect(long).toContain("\\u0001");
    expect(fault(long)).toBeUndefined();
    expect(fault(long.replace(/}$/, ',"b":2}'))).toBe('"b" twice');
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
