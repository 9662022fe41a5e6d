import { z } from 'zod';
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
 * Every reason for which Slack would refuse the blocks, as "/blocks/0/text: what is wrong"; empty for blocks that any
 * workspace accepts. Stricter than Slack: it accepts only the kinds of block and element that the bot uses, and inputs
 * only in modals and the App Home. To use another kind, add it here first.
 */
export function findBlockProblems(surface: Surface, blocks: unknown): string[] {
  const problems = problemsOf(surfaces[surface], blocks, '/blocks');
  const length = surface === 'message' ? shownLength(blocks) : 0;
  if (length > limits.messageBlockText) {
    problems.push(
      `/blocks: at most ${limits.messageBlockText} characters of text in a message, has ${length}`,
    );
  }
  return problems;
}

/** The same for a whole modal or App Home, its blocks included. */
export function findViewProblems(given: unknown): string[] {
  const problems = problemsOf(view, given, '');
  const bytes = Buffer.byteLength(JSON.stringify(given) ?? '');
  if (bytes > limits.viewBytes) problems.push(`/: at most ${limits.viewBytes} bytes in a view, has ${bytes}`);
  return problems;
}

/** Paths are JSON pointers, as in Slack's own error messages. Of the payload only a block's type is repeated. */
function problemsOf(schema: z.ZodType, value: unknown, root: string): string[] {
  const { error } = schema.safeParse(value, { reportInput: true });
  return (error?.issues ?? []).map(({ path, message, input }) => {
    const type = path.at(-1) === 'type' ? typeIn(input) : '';
    return `${[root, ...path.map(String)].join('/')}: ${message}${type}`;
  });
}

function typeIn(input: unknown): string {
  const type = typeof input === 'object' && input !== null && 'type' in input ? input.type : input;
  return typeof type === 'string' ? `, not "${type}"` : '';
}

/** The length of all shown text; Slack limits its sum for a message. */
function shownLength(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return Object.entries(value).reduce((length, [name, inner]: [string, unknown]) => {
    const isShown = typeof inner === 'string' && (name === 'text' || name === 'format');
    return length + (isShown ? inner.length : shownLength(inner));
  }, 0);
}

/** Like Slack, counts blank text as empty. */
function text(max: number) {
  return z
    .string()
    .max(max)
    .refine((given) => given.trim() !== '', 'is empty');
}

function whole(min: number, max: number) {
  return z.int().min(min).max(max);
}

const flag = z.boolean().optional();
const someId = text(limits.optionValue * 2);
/** Only web addresses and mail; Slack refuses `javascript:` and the like. */
const webAddress = text(limits.url).regex(/^https?:\/\/[^\s]+$/i, 'must look like https://example.com');

function plain(max: number) {
  return z.strictObject({ type: z.literal('plain_text'), text: text(max), emoji: flag });
}
function anyText(max: number) {
  const markup = z.strictObject({ type: z.literal('mrkdwn'), text: text(max), verbatim: flag });
  return z.discriminatedUnion('type', [plain(max), markup]);
}

const style = z.enum(['primary', 'danger']).optional();
const pressed = {
  action_id: text(limits.actionId).optional(),
  confirm: z
    .strictObject({
      title: plain(limits.confirmTitle),
      text: anyText(limits.confirmText),
      confirm: plain(limits.confirmButton),
      deny: plain(limits.confirmButton),
      style,
    })
    .optional(),
};
const menu = { ...pressed, focus_on_load: flag, placeholder: plain(limits.placeholder).optional() };

const option = z.strictObject({
  text: plain(limits.optionText),
  value: text(limits.optionValue),
});

/** The initial option must equal one of the options. */
function isOffered(given: { options: unknown[]; initial_option?: unknown }): boolean {
  const offered = given.options.map((one) => JSON.stringify(one));
  return given.initial_option === undefined || offered.includes(JSON.stringify(given.initial_option));
}

const choices = [
  z
    .strictObject({
      type: z.literal('static_select'),
      ...menu,
      options: z.array(option).min(1).max(limits.options),
      initial_option: option.optional(),
    })
    .refine(isOffered, 'what is chosen at first is not one of its options'),
  z.strictObject({
    type: z.literal('external_select'),
    ...menu,
    min_query_length: whole(0, limits.inputLength).optional(),
    initial_option: option.optional(),
  }),
  z.strictObject({ type: z.literal('users_select'), ...menu, initial_user: someId.optional() }),
] as const;

const pressable = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('button'),
    ...pressed,
    text: plain(limits.buttonText),
    value: text(limits.buttonValue).optional(),
    url: webAddress.optional(),
    style,
  }),
  z.strictObject({
    type: z.literal('overflow'),
    ...pressed,
    options: z.array(option).min(2).max(limits.overflowOptions),
  }),
]);

const inputElement = z.discriminatedUnion('type', [
  ...choices,
  z
    .strictObject({
      type: z.literal('plain_text_input'),
      action_id: pressed.action_id,
      focus_on_load: flag,
      placeholder: menu.placeholder,
      initial_value: z.string().max(limits.inputLength).optional(),
      min_length: whole(0, limits.inputLength).optional(),
      max_length: whole(1, limits.inputLength).optional(),
      dispatch_action_config: z
        .strictObject({ trigger_actions_on: z.array(z.literal('on_enter_pressed')).length(1) })
        .optional(),
    })
    .refine(
      ({ min_length: min = 0, max_length: max = Infinity }) => min <= max,
      'min_length is more than max_length',
    )
    .refine(
      ({ initial_value: initial = '', max_length: max = Infinity }) => initial.length <= max,
      'initial_value is longer than max_length',
    ),
]);

const runStyle = z.strictObject({ bold: flag, strike: flag, code: flag }).optional();
/** Any non-empty string, even a space or a line break. */
const textRun = z.strictObject({ type: z.literal('text'), text: z.string().min(1), style: runStyle });
/** Slack documents no limit; more than this in one part is surely a bug of ours. */
const manyRuns = 1000;
const runs = z
  .array(
    z.discriminatedUnion('type', [
      textRun,
      z.strictObject({ type: z.literal('user'), user_id: someId, style: runStyle }),
      z.strictObject({ type: z.literal('usergroup'), usergroup_id: someId, style: runStyle }),
      z.strictObject({ type: z.literal('channel'), channel_id: someId, style: runStyle }),
      z.strictObject({
        type: z.literal('date'),
        timestamp: whole(0, 9_999_999_999),
        format: text(limits.textObject),
        fallback: text(limits.textObject).optional(),
        style: runStyle,
      }),
    ]),
  )
  .min(1)
  .max(manyRuns);
const lines = z.array(textRun).min(1).max(manyRuns);
const parts = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('rich_text_section'), elements: runs }),
  z.strictObject({ type: z.literal('rich_text_quote'), elements: runs }),
  z.strictObject({ type: z.literal('rich_text_preformatted'), elements: lines }),
]);

/** No two items have the same id. Items without one are allowed: Slack names them. */
function isUnique(name: 'action_id' | 'block_id') {
  return (items: readonly object[]): boolean => {
    const ids = items.flatMap((item) => Object.entries(item)).filter(([field]) => field === name);
    return new Set(ids.map(([, id]: [string, unknown]) => id)).size === ids.length;
  };
}

const block_id = text(limits.blockId).optional();
const shared = [
  z.strictObject({
    type: z.literal('actions'),
    block_id,
    elements: z
      .array(pressable)
      .min(1)
      .max(limits.actionsElements)
      .refine(isUnique('action_id'), 'an action_id twice'),
  }),
  z.strictObject({
    type: z.literal('context'),
    block_id,
    elements: z.array(anyText(limits.contextText)).min(1).max(limits.contextElements),
  }),
  z.strictObject({ type: z.literal('divider'), block_id }),
  z.strictObject({ type: z.literal('header'), block_id, text: plain(limits.headerText) }),
  z.strictObject({
    type: z.literal('rich_text'),
    block_id,
    elements: z.array(parts).min(1).max(manyRuns),
  }),
  z.strictObject({ type: z.literal('section'), block_id, text: anyText(limits.sectionText) }),
] as const;
const input = z.strictObject({
  type: z.literal('input'),
  block_id,
  label: plain(limits.inputLabel),
  element: inputElement,
  hint: plain(limits.inputHint).optional(),
  optional: flag,
  dispatch_action: flag,
});

function isFocusedOnce(blocks: readonly object[]): boolean {
  return JSON.stringify(blocks).split('"focus_on_load":true').length <= 2;
}

function listOf<Block extends z.ZodType<object>>(block: Block, min: number, max: number) {
  return z
    .array(block)
    .min(min)
    .max(max)
    .refine(isUnique('block_id'), 'a block_id twice')
    .refine(isFocusedOnce, 'focus_on_load on more than one element');
}

const block = z.discriminatedUnion('type', [...shared]);
const surfaces = {
  message: listOf(block, 0, limits.messageBlocks),
  modal: listOf(z.discriminatedUnion('type', [...shared, input]), 1, limits.viewBlocks),
  home: listOf(z.discriminatedUnion('type', [...shared, input]), 0, limits.viewBlocks),
};

const viewFields = {
  private_metadata: z.string().max(limits.privateMetadata).optional(),
  callback_id: z.string().max(limits.callbackId).optional(),
};
const view = z.discriminatedUnion('type', [
  z
    .strictObject({
      type: z.literal('modal'),
      ...viewFields,
      title: plain(limits.viewTitle),
      submit: plain(limits.viewButton).optional(),
      close: plain(limits.viewButton).optional(),
      blocks: surfaces.modal,
    })
    .refine(
      ({ submit, blocks }) => submit !== undefined || blocks.every(({ type }) => type !== 'input'),
      'submit is missing, and there are input blocks',
    ),
  z.strictObject({ type: z.literal('home'), ...viewFields, blocks: surfaces.home }),
]);
