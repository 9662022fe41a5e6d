// Small parts of Block Kit as plain JSON, right or wrong: what the checks are tried on.

export type Json = { [field: string]: unknown };

export const plain = (text: string): Json => ({ type: 'plain_text', text });
export const mrkdwn = (text: string): Json => ({ type: 'mrkdwn', text });
export const section = (text = 'words'): Json => ({ type: 'section', text: mrkdwn(text) });
export const button = (extra: Json = {}): Json => ({
  type: 'button',
  action_id: 'go',
  text: plain('Go'),
  ...extra,
});
export const actions = (...elements: Json[]): Json => ({ type: 'actions', elements });
export const option = (value: string, extra: Json = {}): Json => ({ text: plain(value), value, ...extra });
export const input = (element: Json, extra: Json = {}): Json => ({
  type: 'input',
  label: plain('Label'),
  element,
  ...extra,
});
export const textInput = (extra: Json = {}): Json => ({ type: 'plain_text_input', action_id: 'a', ...extra });
export const rich = (...elements: Json[]): Json => ({
  type: 'rich_text',
  elements: [{ type: 'rich_text_section', elements }],
});
export const confirm = (extra: Json = {}): Json => ({
  title: plain('Sure?'),
  text: mrkdwn('Charge *NGN 1.00*?'),
  confirm: plain('Charge'),
  deny: plain('Back'),
  ...extra,
});
export const modal = (extra: Json = {}): Json => ({
  type: 'modal',
  title: plain('Charge'),
  blocks: [section()],
  ...extra,
});
export const select = (extra: Json = {}): Json => ({
  type: 'static_select',
  action_id: 's',
  options: [option('a'), option('b')],
  ...extra,
});

export function many(count: number, item: Json): Json[] {
  return Array.from({ length: count }, () => item);
}
