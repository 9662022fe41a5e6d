import { isJsonObject } from '../../domain/json-pointer.ts';
import {
  atLeastOne,
  byType,
  exactlyOne,
  flag,
  list,
  matching,
  oneOf,
  optional,
  shape,
  shown,
  shownRun,
  text,
  whole,
  type Check,
  type Optional,
} from './block-shape.ts';
import { limits } from '../../slack/kit/limits.ts';

export function plain(max: number): Check {
  return byType({ plain_text: shape({ text: shown(max), emoji: optional(flag) }) });
}

export function anyText(max: number): Check {
  return byType({
    plain_text: shape({ text: shown(max), emoji: optional(flag) }),
    mrkdwn: shape({ text: shown(max), verbatim: optional(flag) }),
  });
}

/** Only these two lead out of Slack; `javascript:` and its like are refused there too. */
const webAddress: Check = (value, path, findings) => {
  matching(/^https?:\/\/[^\s]+$/i, 'https://example.com')(value, path, findings);
  text(limits.url)(value, path, findings);
};

const anyString = text(limits.optionValue * 2);
const style = oneOf('primary', 'danger');
const actionId = { action_id: optional(text(limits.actionId)) };
const placeholder = { placeholder: optional(plain(limits.placeholder)) };
const focus = { focus_on_load: optional(flag) };

const confirm = {
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

function option(label: Check, extra: Record<string, Optional> = {}): Check {
  return shape({
    text: label,
    value: text(limits.optionValue),
    description: optional(plain(limits.optionDescription)),
    ...extra,
  });
}

const menuOption = option(plain(limits.optionText));
const choiceOption = option(anyText(limits.optionText));

/** What is chosen at first must stand among the options, word for word. */
const initialIsAnOption: Check = (value, path, findings) => {
  if (!isJsonObject(value)) return;
  const groups = Array.isArray(value['option_groups']) ? value['option_groups'] : [];
  const lists = [value['options'], ...groups.map((group) => (isJsonObject(group) ? group['options'] : []))];
  const options = new Set(lists.flat().map((one) => JSON.stringify(one)));
  for (const chosen of [value['initial_option'] ?? [], value['initial_options'] ?? []].flat()) {
    if (!options.has(JSON.stringify(chosen))) {
      findings.problems.push(`${path}: what is chosen at first is not one of its options`);
    }
  }
};

const menu = {
  ...actionId,
  ...placeholder,
  ...focus,
  ...confirm,
};
const many = { max_selected_items: optional(whole(1, limits.options)) };

const staticOptions = {
  options: optional(list(menuOption, 1, limits.options)),
  option_groups: optional(
    list(
      shape({ label: plain(limits.optionText), options: list(menuOption, 1, limits.options) }),
      1,
      limits.optionGroups,
    ),
  ),
};

const minQuery = { min_query_length: optional(whole(0, limits.inputLength)) };
const ids = list(anyString, 1, limits.options);
const oneOptionList = exactlyOne('options', 'option_groups');

const conversations = {
  default_to_current_conversation: optional(flag),
  filter: optional(
    shape(
      {
        include: optional(list(oneOf('im', 'mpim', 'private', 'public'), 1, 4)),
        exclude_external_shared_channels: optional(flag),
        exclude_bot_users: optional(flag),
      },
      atLeastOne('include', 'exclude_external_shared_channels', 'exclude_bot_users'),
    ),
  ),
};
const responseUrl = { response_url_enabled: optional(flag) };

const menus: Record<string, Check> = {
  static_select: shape(
    { ...menu, ...staticOptions, initial_option: optional(menuOption) },
    oneOptionList,
    initialIsAnOption,
  ),
  external_select: shape({ ...menu, ...minQuery, initial_option: optional(menuOption) }),
  users_select: shape({ ...menu, initial_user: optional(anyString) }),
  channels_select: shape({ ...menu, ...responseUrl, initial_channel: optional(anyString) }),
  conversations_select: shape({
    ...menu,
    ...responseUrl,
    ...conversations,
    initial_conversation: optional(anyString),
  }),
  multi_static_select: shape(
    {
      ...menu,
      ...many,
      ...staticOptions,
      initial_options: optional(list(menuOption, 1, limits.options)),
    },
    oneOptionList,
    initialIsAnOption,
  ),
  multi_external_select: shape({
    ...menu,
    ...many,
    ...minQuery,
    initial_options: optional(list(menuOption, 1, limits.options)),
  }),
  multi_users_select: shape({ ...menu, ...many, initial_users: optional(ids) }),
  multi_channels_select: shape({ ...menu, ...many, initial_channels: optional(ids) }),
  multi_conversations_select: shape({
    ...menu,
    ...many,
    ...conversations,
    initial_conversations: optional(ids),
  }),
};

const choices = { ...actionId, ...focus, ...confirm };

const pickers: Record<string, Check> = {
  checkboxes: shape(
    {
      ...choices,
      options: list(choiceOption, 1, limits.choiceOptions),
      initial_options: optional(list(choiceOption, 1, limits.choiceOptions)),
    },
    initialIsAnOption,
  ),
  radio_buttons: shape(
    {
      ...choices,
      options: list(choiceOption, 1, limits.choiceOptions),
      initial_option: optional(choiceOption),
    },
    initialIsAnOption,
  ),
  datepicker: shape({
    ...menu,
    initial_date: optional(matching(/^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/, '2026-09-14')),
  }),
  timepicker: shape({
    ...menu,
    initial_time: optional(matching(/^([01]\d|2[0-3]):[0-5]\d$/, '14:30')),
    timezone: optional(anyString),
  }),
};

const dateAndTime: Record<string, Check> = {
  datetimepicker: shape({
    ...choices,
    initial_date_time: optional(whole(1_000_000_000, 9_999_999_999)),
  }),
};

const buttonFields = {
  ...actionId,
  text: plain(limits.buttonText),
  value: optional(text(limits.buttonValue)),
  accessibility_label: optional(text(limits.accessibilityLabel)),
};

const button: Check = shape({
  ...buttonFields,
  ...confirm,
  url: optional(webAddress),
  style: optional(style),
});

const overflow: Check = shape({
  ...actionId,
  ...confirm,
  options: list(option(plain(limits.optionText), { url: optional(webAddress) }), 2, limits.overflowOptions),
});

export const imageFields = {
  alt_text: shown(limits.imageAlt),
  image_url: optional(webAddress),
  slack_file: optional(
    shape({ id: optional(anyString), url: optional(webAddress) }, exactlyOne('id', 'url')),
  ),
};
export const oneImageSource = exactlyOne('image_url', 'slack_file');
export const image: Check = shape(imageFields, oneImageSource);

const dispatch = {
  dispatch_action_config: optional(
    shape({
      trigger_actions_on: list(oneOf('on_enter_pressed', 'on_character_entered'), 1, 2),
    }),
  ),
};

const lengthsAgree: Check = (value, path, findings) => {
  if (!isJsonObject(value)) return;
  const { min_length: min, max_length: max, initial_value: initial } = value;
  if (typeof min === 'number' && typeof max === 'number' && min > max) {
    findings.problems.push(`${path}: min_length is more than max_length`);
  }
  if (typeof initial === 'string' && typeof max === 'number' && initial.length > max) {
    findings.problems.push(`${path}: initial_value is longer than max_length`);
  }
};

const typed = { ...actionId, ...placeholder, ...focus, ...dispatch };
const decimal = matching(/^-?\d+(\.\d+)?$/, '12.5');

const inputs: Record<string, Check> = {
  plain_text_input: shape(
    {
      ...typed,
      initial_value: optional(text(limits.inputLength, 0)),
      multiline: optional(flag),
      min_length: optional(whole(0, limits.inputLength)),
      max_length: optional(whole(1, limits.inputLength)),
    },
    lengthsAgree,
  ),
  email_text_input: shape({ ...typed, initial_value: optional(text(limits.inputLength)) }),
  url_text_input: shape({ ...typed, initial_value: optional(text(limits.inputLength)) }),
  number_input: shape({
    ...typed,
    is_decimal_allowed: flag,
    initial_value: optional(decimal),
    min_value: optional(decimal),
    max_value: optional(decimal),
  }),
  file_input: shape({
    ...actionId,
    filetypes: optional(list(anyString, 1, limits.options)),
    max_files: optional(whole(1, limits.files)),
  }),
};

const runStyle = {
  style: optional(
    shape({
      bold: optional(flag),
      italic: optional(flag),
      strike: optional(flag),
      code: optional(flag),
      underline: optional(flag),
      highlight: optional(flag),
      client_highlight: optional(flag),
      unlink: optional(flag),
    }),
  ),
};

const textRun = shape({ text: shownRun, ...runStyle });
const linkRun = shape({
  url: webAddress,
  text: optional(shownRun),
  unsafe: optional(flag),
  ...runStyle,
});

const run = byType({
  text: textRun,
  link: linkRun,
  emoji: shape({ name: anyString, unicode: optional(anyString), url: optional(webAddress), ...runStyle }),
  user: shape({ user_id: anyString, ...runStyle }),
  usergroup: shape({ usergroup_id: anyString, ...runStyle }),
  channel: shape({ channel_id: anyString, ...runStyle }),
  team: shape({ team_id: anyString, ...runStyle }),
  broadcast: shape({ range: oneOf('here', 'channel', 'everyone'), ...runStyle }),
  color: shape({ value: matching(/^#[0-9a-f]{6}$/i, '#2eb67d'), ...runStyle }),
  date: shape({
    timestamp: whole(0, 9_999_999_999),
    format: shown(limits.textObject),
    url: optional(webAddress),
    fallback: optional(text(limits.textObject)),
    ...runStyle,
  }),
});

/** Slack tells no count; more than this in one part is surely an error of ours. */
const manyRuns = 1000;
const runs = list(run, 1, manyRuns);
const border = { border: optional(whole(0, 1)) };
const richSection = shape({ elements: runs });

export const richText: Check = shape({
  block_id: optional(text(limits.blockId)),
  elements: list(
    byType({
      rich_text_section: richSection,
      rich_text_list: shape({
        style: oneOf('bullet', 'ordered'),
        elements: list(byType({ rich_text_section: richSection }), 1, manyRuns),
        indent: optional(whole(0, 8)),
        offset: optional(whole(0, manyRuns)),
        ...border,
      }),
      rich_text_quote: shape({ elements: runs, ...border }),
      rich_text_preformatted: shape({
        elements: list(byType({ text: textRun, link: linkRun }), 1, manyRuns),
        language: optional(anyString),
        ...border,
      }),
    }),
    1,
    manyRuns,
  ),
});

const richTextInput: Check = shape({ ...typed, initial_value: optional(byType({ rich_text: richText })) });

export const accessory: Check = byType({ button, overflow, image, ...pickers, ...menus });

export const actionElement: Check = byType({
  button,
  overflow,
  rich_text_input: richTextInput,
  ...pickers,
  ...dateAndTime,
  ...menus,
});

export const inputElement: Check = byType({
  ...inputs,
  rich_text_input: richTextInput,
  ...pickers,
  ...dateAndTime,
  ...menus,
});
