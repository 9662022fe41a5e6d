import { isJsonObject } from '../../domain/json-pointer.ts';
/** Where a problem is told, and what was seen so far that must stay unique or be summed up. */
export type Findings = {
  problems: string[];
  /** Length of all shown text, for the limit of a whole message. */
  textLength: number;
};

/** Looks at one value of a payload. `path` is a JSON pointer, as in Slack's own error messages. */
export type Check = (value: unknown, path: string, findings: Findings) => void;

/** A field that may be absent; every other field of a shape is required. */
export type Optional = { optional: Check };

export function optional(check: Check): Optional {
  return { optional: check };
}

/** An object with exactly these fields beside `type`: Slack refuses unknown ones, and a typing slip is one. */
export function shape(fields: Record<string, Check | Optional>, ...rules: Check[]): Check {
  return (value, path, findings) => {
    if (!isJsonObject(value)) {
      findings.problems.push(`${path}: must be an object`);
      return;
    }
    for (const [name, field] of Object.entries(fields)) {
      const given = value[name];
      if (given !== undefined) {
        (typeof field === 'function' ? field : field.optional)(given, `${path}/${name}`, findings);
      } else if (typeof field === 'function') {
        findings.problems.push(`${path}/${name}: is missing`);
      }
    }
    for (const [name, given] of Object.entries(value)) {
      if (name !== 'type' && given !== undefined && !Object.hasOwn(fields, name)) {
        findings.problems.push(`${path}/${name}: unknown field`);
      }
    }
    for (const rule of rules) rule(value, path, findings);
  };
}

/** An object judged by its `type`, which must be one of these. */
export function byType(checks: Readonly<Record<string, Check>>): Check {
  return (value, path, findings) => {
    const type = isJsonObject(value) ? value['type'] : undefined;
    const check = typeof type === 'string' && Object.hasOwn(checks, type) ? checks[type] : undefined;
    if (check) check(value, path, findings);
    else if (typeof type !== 'string') findings.problems.push(`${path}: must be an object with a type`);
    else {
      const known = Object.keys(checks).join(', ');
      findings.problems.push(`${path}/type: "${type}" is not allowed here, only ${known}`);
    }
  };
}

export function list(item: Check, min: number, max: number, ...rules: Check[]): Check {
  return (value, path, findings) => {
    if (!Array.isArray(value)) {
      findings.problems.push(`${path}: must be a list`);
      return;
    }
    if (value.length < min) findings.problems.push(`${path}: needs at least ${min}, has ${value.length}`);
    if (value.length > max) findings.problems.push(`${path}: at most ${max}, has ${value.length}`);
    value.forEach((one: unknown, index) => item(one, `${path}/${index}`, findings));
    for (const rule of rules) rule(value, path, findings);
  };
}

/** A string of `min` to `max` characters; blank counts as empty, as Slack counts it. */
export function text(max: number, min = 1): Check {
  return (value, path, findings) => {
    if (typeof value !== 'string') findings.problems.push(`${path}: must be text`);
    else if (min > 0 && value.trim() === '') findings.problems.push(`${path}: is empty`);
    else if (value.length < min) findings.problems.push(`${path}: needs at least ${min} characters`);
    else if (value.length > max) {
      findings.problems.push(`${path}: at most ${max} characters, has ${value.length}`);
    }
  };
}

/** Text that is shown, and so counts for the whole message. */
export function shown(max: number): Check {
  const check = text(max);
  return (value, path, findings) => {
    if (typeof value === 'string') findings.textLength += value.length;
    check(value, path, findings);
  };
}

/** Any non-empty string, even a space or a line break. */
export const shownRun: Check = (value, path, findings) => {
  if (typeof value !== 'string' || value === '') findings.problems.push(`${path}: must be non-empty text`);
  else findings.textLength += value.length;
};

export function matching(pattern: RegExp, example: string): Check {
  return (value, path, findings) => {
    if (typeof value !== 'string' || !pattern.test(value)) {
      findings.problems.push(`${path}: must look like ${example}`);
    }
  };
}

export function whole(min: number, max: number): Check {
  return (value, path, findings) => {
    if (!Number.isInteger(value) || Number(value) < min || Number(value) > max) {
      findings.problems.push(`${path}: must be a whole number from ${min} to ${max}`);
    }
  };
}

export function oneOf(...values: readonly unknown[]): Check {
  return (value, path, findings) => {
    if (!values.includes(value)) findings.problems.push(`${path}: must be one of ${values.join(', ')}`);
  };
}

export const flag: Check = oneOf(true, false);

/** Exactly one of these fields is there. */
export function exactlyOne(...names: readonly string[]): Check {
  return (value, path, findings) => {
    const given = isJsonObject(value) ? names.filter((name) => value[name] !== undefined).length : 0;
    if (given !== 1)
      findings.problems.push(`${path}: needs exactly one of ${names.join(', ')}, has ${given}`);
  };
}

export function atLeastOne(...names: readonly string[]): Check {
  return (value, path, findings) => {
    if (isJsonObject(value) && names.every((name) => value[name] === undefined)) {
      findings.problems.push(`${path}: needs at least one of ${names.join(', ')}`);
    }
  };
}

/** No two items of the list have the same `field`; items without it are Slack's to name. */
export function unique(field: string): Check {
  return (value, path, findings) => {
    if (!Array.isArray(value)) return;
    const seen = new Map<unknown, number>();
    value.forEach((item: unknown, index) => {
      const id = isJsonObject(item) ? item[field] : undefined;
      if (id === undefined) return;
      const first = seen.get(id);
      if (first === undefined) seen.set(id, index);
      else findings.problems.push(`${path}/${index}/${field}: same as that of ${path}/${first}`);
    });
  };
}
