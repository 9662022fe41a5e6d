import { isJsonObject } from '../../domain/json-pointer.ts';
import {
  accessory,
  actionElement,
  anyText,
  image,
  imageFields,
  inputElement,
  oneImageSource,
  plain,
  richText,
} from './block-elements.ts';
import {
  atLeastOne,
  byType,
  flag,
  list,
  optional,
  shape,
  text,
  unique,
  type Check,
  type Findings,
} from './block-shape.ts';
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
 * that any workspace takes. Where Slack's documents are silent or a feature is still being rolled out, this
 * is the stricter of the two: unknown fields, input blocks outside modals, and the newer kinds of block (table, alert,
 * card, markdown), which a workspace may not know yet.
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

const blockId = { block_id: optional(text(limits.blockId)) };
const shared: Record<string, Check> = {
  actions: shape({
    ...blockId,
    elements: list(actionElement, 1, limits.actionsElements, unique('action_id')),
  }),
  context: shape({
    ...blockId,
    elements: list(contextElement, 1, limits.contextElements),
  }),
  divider: shape(blockId),
  header: shape({ ...blockId, text: plain(limits.headerText) }),
  image: shape({ ...blockId, ...imageFields, title: optional(plain(limits.imageTitle)) }, oneImageSource),
  rich_text: richText,
  section: shape(
    {
      ...blockId,
      text: optional(anyText(limits.sectionText)),
      fields: optional(list(anyText(limits.sectionField), 1, limits.sectionFields)),
      accessory: optional(accessory),
      expand: optional(flag),
    },
    atLeastOne('text', 'fields'),
  ),
};

function contextElement(value: unknown, path: string, findings: Findings): void {
  const isImage = isJsonObject(value) && value['type'] === 'image';
  (isImage ? image : anyText(limits.contextText))(value, path, findings);
}

const modalOnly: Record<string, Check> = {
  input: shape(
    {
      ...blockId,
      label: plain(limits.inputLabel),
      element: inputElement,
      hint: optional(plain(limits.inputHint)),
      optional: optional(flag),
      dispatch_action: optional(flag),
    },
    noDispatchOfFiles,
  ),
};

function noDispatchOfFiles(value: unknown, path: string, findings: Findings): void {
  if (!isJsonObject(value) || value['dispatch_action'] !== true) return;
  if (isJsonObject(value['element']) && value['element']['type'] === 'file_input') {
    findings.problems.push(`${path}/dispatch_action: not with a file_input`);
  }
}

function focusOnce(value: unknown, path: string, findings: Findings): void {
  const focused = JSON.stringify(value ?? null).split('"focus_on_load":true').length - 1;
  if (focused > 1) findings.problems.push(`${path}: focus_on_load on ${focused} elements, at most one`);
}

const uniqueBlockIds = unique('block_id');

const surfaces: Record<Surface, Check> = {
  message: list(byType(shared), 0, limits.messageBlocks, uniqueBlockIds, focusOnce),
  modal: list(byType({ ...shared, ...modalOnly }), 1, limits.viewBlocks, uniqueBlockIds, focusOnce),
  home: list(byType(shared), 0, limits.viewBlocks, uniqueBlockIds, focusOnce),
};

const viewFields = {
  private_metadata: optional(text(limits.privateMetadata, 0)),
  callback_id: optional(text(limits.callbackId, 0)),
  external_id: optional(text(limits.externalId, 0)),
};

const modal = shape(
  {
    ...viewFields,
    title: plain(limits.viewTitle),
    submit: optional(plain(limits.viewButton)),
    close: optional(plain(limits.viewButton)),
    clear_on_close: optional(flag),
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
