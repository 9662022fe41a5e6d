import { isJsonObject } from '../../domain/json-pointer.ts';
import { limits } from '../../slack/kit/limits.ts';

export type Surface = 'message' | 'modal' | 'home';

/** Throws one error that lists every problem of the blocks with its path; for tests. */
export function assertBlocks(surface: Surface, blocks: unknown): void {
  const problems = findBlockProblems(surface, blocks);
  if (problems.length > 0) {
    throw new Error(`Slack would refuse these blocks of a ${surface}:\n${problems.join('\n')}`);
  }
}

/**
 * Every reason for which Slack would refuse the blocks, as "/blocks/0/text: what is wrong"; none for blocks
 * that any workspace takes. Stricter than Slack: it knows only the kinds of block and element that the bot shows,
 * and input blocks in modals alone. A kind that is new to the bot is new here too.
 */
export function findBlockProblems(surface: Surface, blocks: unknown): string[] {
  const findings: Findings = { problems: [], textLength: 0 };
  surfaces[surface](blocks, '/blocks', findings);
  if (surface === 'message' && findings.textLength > limits.messageBlockText) {
    findings.problems.push(
      `/blocks: at most ${limits.messageBlockText} characters of text in a message, has ${findings.textLength}`,
    );
  }
  return findings.problems;
}

/** The same for a whole modal or App Home, its blocks included. */
export function findViewProblems(view: unknown): string[] {
  const findings: Findings = { problems: [], textLength: 0 };
  byType({ modal, home })(view, '', findings);
  const bytes = new TextEncoder().encode(JSON.stringify(view) ?? '').length;
  if (bytes > limits.viewBytes) {
    findings.problems.push(`/: at most ${limits.viewBytes} bytes in a view, has ${bytes}`);
  }
  return findings.problems;
}

/** `textLength`: of all shown text, for the limit of a whole message. */
type Findings = { problems: string[]; textLength: number };

/** Looks at one value of a payload. `path` is a JSON pointer, as in Slack's own error messages. */
type Check = (value: unknown, path: string, findings: Findings) => void;

/** A field that may be absent; every other field of a shape is required. */
type Optional = { optional: Check };

function optional(check: Check): Optional {
  return { optional: check };
}

/** An object with exactly these fields beside `type`: Slack refuses unknown ones, and a typing slip is one. */
function shape(fields: Record<string, Check | Optional>, ...rules: Check[]): Check {
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
function byType(checks: Readonly<Record<string, Check>>): Check {
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

function list(item: Check, min: number, max: number, ...rules: Check[]): Check {
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
function text(max: number, min = 1): Check {
  return (value, path, findings) => {
    if (typeof value !== 'string') findings.problems.push(`${path}: must be text`);
    else if (min > 0 && value.trim() === '') findings.problems.push(`${path}: is empty`);
    else if (value.length > max) {
      findings.problems.push(`${path}: at most ${max} characters, has ${value.length}`);
    }
  };
}

/** Text that is shown, and so counts for the whole message. */
function shown(max: number): Check {
  const check = text(max);
  return (value, path, findings) => {
    if (typeof value === 'string') findings.textLength += value.length;
    check(value, path, findings);
  };
}

/** Any non-empty string, even a space or a line break. */
function shownRun(value: unknown, path: string, findings: Findings): void {
  if (typeof value !== 'string' || value === '') findings.problems.push(`${path}: must be non-empty text`);
  else findings.textLength += value.length;
}

/** Only these two lead out of Slack; `javascript:` and its like are refused there too. */
function webAddress(value: unknown, path: string, findings: Findings): void {
  if (typeof value !== 'string' || !/^https?:\/\/[^\s]+$/i.test(value)) {
    findings.problems.push(`${path}: must look like https://example.com`);
  }
  text(limits.url)(value, path, findings);
}

function whole(min: number, max: number): Check {
  return (value, path, findings) => {
    if (!Number.isInteger(value) || Number(value) < min || Number(value) > max) {
      findings.problems.push(`${path}: must be a whole number from ${min} to ${max}`);
    }
  };
}

function oneOf(...values: readonly unknown[]): Check {
  return (value, path, findings) => {
    if (!values.includes(value)) findings.problems.push(`${path}: must be one of ${values.join(', ')}`);
  };
}

const flag = oneOf(true, false);

/** No two items of the list have the same `field`; items without it are Slack's to name. */
function unique(field: string): Check {
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

function plain(max: number): Check {
  return byType({ plain_text: shape({ text: shown(max), emoji: optional(flag) }) });
}

function anyText(max: number): Check {
  return byType({
    plain_text: shape({ text: shown(max), emoji: optional(flag) }),
    mrkdwn: shape({ text: shown(max), verbatim: optional(flag) }),
  });
}

const someId = text(limits.optionValue * 2);
const style = oneOf('primary', 'danger');
const focus = { focus_on_load: optional(flag) };
const pressed = {
  action_id: optional(text(limits.actionId)),
  confirm: optional(
    shape({
      title: plain(limits.confirmTitle),
      text: anyText(limits.confirmText),
      confirm: plain(limits.confirmButton),
      deny: plain(limits.confirmButton),
      style: optional(style),
    }),
  ),
};
const menu = { ...pressed, ...focus, placeholder: optional(plain(limits.placeholder)) };

function optionOf(label: Check): Check {
  return shape({
    text: label,
    value: text(limits.optionValue),
    description: optional(plain(limits.optionDescription)),
  });
}
const option = optionOf(plain(limits.optionText));
const choice = optionOf(anyText(limits.optionText));

/** What is chosen at first is among the options, word for word. */
function initialIsAnOption(value: unknown, path: string, findings: Findings): void {
  if (!isJsonObject(value) || value['initial_option'] === undefined) return;
  const offered = Array.isArray(value['options']) ? value['options'].map((one) => JSON.stringify(one)) : [];
  if (!offered.includes(JSON.stringify(value['initial_option']))) {
    findings.problems.push(`${path}: what is chosen at first is not one of its options`);
  }
}

const choices: Record<string, Check> = {
  static_select: shape(
    {
      ...menu,
      options: list(option, 1, limits.options),
      initial_option: optional(option),
    },
    initialIsAnOption,
  ),
  external_select: shape({
    ...menu,
    min_query_length: optional(whole(0, limits.inputLength)),
    initial_option: optional(option),
  }),
  users_select: shape({ ...menu, initial_user: optional(someId) }),
  conversations_select: shape({
    ...menu,
    initial_conversation: optional(someId),
    default_to_current_conversation: optional(flag),
    filter: optional(
      shape({
        include: list(oneOf('im', 'mpim', 'private', 'public'), 1, 4),
        exclude_bot_users: optional(flag),
      }),
    ),
  }),
  radio_buttons: shape(
    {
      ...pressed,
      ...focus,
      options: list(choice, 1, limits.choiceOptions),
      initial_option: optional(choice),
    },
    initialIsAnOption,
  ),
};

const pressable = byType({
  ...choices,
  button: shape({
    ...pressed,
    text: plain(limits.buttonText),
    value: optional(text(limits.buttonValue)),
    url: optional(webAddress),
    style: optional(style),
  }),
  overflow: shape({
    ...pressed,
    options: list(option, 2, limits.overflowOptions),
  }),
});

function lengthsAgree(value: unknown, path: string, findings: Findings): void {
  if (!isJsonObject(value)) return;
  const { min_length: min, max_length: max, initial_value: initial } = value;
  if (typeof min === 'number' && typeof max === 'number' && min > max) {
    findings.problems.push(`${path}: min_length is more than max_length`);
  }
  if (typeof initial === 'string' && typeof max === 'number' && initial.length > max) {
    findings.problems.push(`${path}: initial_value is longer than max_length`);
  }
}

const inputElement = byType({
  ...choices,
  plain_text_input: shape(
    {
      action_id: optional(text(limits.actionId)),
      ...focus,
      placeholder: optional(plain(limits.placeholder)),
      initial_value: optional(text(limits.inputLength, 0)),
      multiline: optional(flag),
      min_length: optional(whole(0, limits.inputLength)),
      max_length: optional(whole(1, limits.inputLength)),
    },
    lengthsAgree,
  ),
});

const runStyle = {
  style: optional(
    shape({ bold: optional(flag), italic: optional(flag), strike: optional(flag), code: optional(flag) }),
  ),
};
const textRun = shape({ text: shownRun, ...runStyle });
const linkRun = shape({ url: webAddress, text: optional(shownRun), ...runStyle });

/** Slack tells no count; more than this in one part is surely an error of ours. */
const manyRuns = 1000;
const runs = list(
  byType({
    text: textRun,
    link: linkRun,
    user: shape({ user_id: someId, ...runStyle }),
    usergroup: shape({ usergroup_id: someId, ...runStyle }),
    channel: shape({ channel_id: someId, ...runStyle }),
    date: shape({
      timestamp: whole(0, 9_999_999_999),
      format: shown(limits.textObject),
      fallback: optional(text(limits.textObject)),
      ...runStyle,
    }),
  }),
  1,
  manyRuns,
);

const richText = list(
  byType({
    rich_text_section: shape({ elements: runs }),
    rich_text_quote: shape({ elements: runs }),
    rich_text_preformatted: shape({ elements: list(byType({ text: textRun, link: linkRun }), 1, manyRuns) }),
  }),
  1,
  manyRuns,
);

const blockId = { block_id: optional(text(limits.blockId)) };
const shared: Record<string, Check> = {
  actions: shape({ ...blockId, elements: list(pressable, 1, limits.actionsElements, unique('action_id')) }),
  context: shape({ ...blockId, elements: list(anyText(limits.contextText), 1, limits.contextElements) }),
  divider: shape(blockId),
  header: shape({ ...blockId, text: plain(limits.headerText) }),
  rich_text: shape({ ...blockId, elements: richText }),
  section: shape({ ...blockId, text: anyText(limits.sectionText) }),
};
const modalOnly: Record<string, Check> = {
  input: shape({
    ...blockId,
    label: plain(limits.inputLabel),
    element: inputElement,
    hint: optional(plain(limits.inputHint)),
    optional: optional(flag),
  }),
};

function focusOnce(value: unknown, path: string, findings: Findings): void {
  const focused = JSON.stringify(value ?? null).split('"focus_on_load":true').length - 1;
  if (focused > 1) findings.problems.push(`${path}: focus_on_load on ${focused} elements, at most one`);
}

const listRules = [unique('block_id'), focusOnce];
const surfaces: Record<Surface, Check> = {
  message: list(byType(shared), 0, limits.messageBlocks, ...listRules),
  modal: list(byType({ ...shared, ...modalOnly }), 1, limits.viewBlocks, ...listRules),
  home: list(byType(shared), 0, limits.viewBlocks, ...listRules),
};

const viewFields = {
  private_metadata: optional(text(limits.privateMetadata, 0)),
  callback_id: optional(text(limits.callbackId, 0)),
};
const modal = shape(
  {
    ...viewFields,
    title: plain(limits.viewTitle),
    submit: optional(plain(limits.viewButton)),
    close: optional(plain(limits.viewButton)),
    notify_on_close: optional(flag),
    blocks: surfaces.modal,
  },
  submitWithInputs,
);
const home = shape({ ...viewFields, blocks: surfaces.home });

function submitWithInputs(value: unknown, path: string, findings: Findings): void {
  if (!isJsonObject(value) || !Array.isArray(value['blocks']) || value['submit'] !== undefined) return;
  if (value['blocks'].some((block: unknown) => isJsonObject(block) && block['type'] === 'input')) {
    findings.problems.push(`${path}/submit: is missing, and there are input blocks`);
  }
}
