type ElementValue = { value: string; initial: string; many?: true };

/**
 * By element type: the field in which Slack sends its value, and the one in which the app gives the first.
 * Slack's own names; the page fills the fields and the workspace reads them.
 */
export const elementValues: Readonly<Record<string, ElementValue>> = {
  plain_text_input: { value: 'value', initial: 'initial_value' },
  email_text_input: { value: 'value', initial: 'initial_value' },
  url_text_input: { value: 'value', initial: 'initial_value' },
  number_input: { value: 'value', initial: 'initial_value' },
  rich_text_input: { value: 'rich_text_value', initial: 'initial_value' },
  static_select: { value: 'selected_option', initial: 'initial_option' },
  external_select: { value: 'selected_option', initial: 'initial_option' },
  radio_buttons: { value: 'selected_option', initial: 'initial_option' },
  users_select: { value: 'selected_user', initial: 'initial_user' },
  channels_select: { value: 'selected_channel', initial: 'initial_channel' },
  conversations_select: { value: 'selected_conversation', initial: 'initial_conversation' },
  datepicker: { value: 'selected_date', initial: 'initial_date' },
  timepicker: { value: 'selected_time', initial: 'initial_time' },
  datetimepicker: { value: 'selected_date_time', initial: 'initial_date_time' },
  checkboxes: { value: 'selected_options', initial: 'initial_options', many: true },
  multi_static_select: { value: 'selected_options', initial: 'initial_options', many: true },
  multi_external_select: { value: 'selected_options', initial: 'initial_options', many: true },
  multi_users_select: { value: 'selected_users', initial: 'initial_users', many: true },
  multi_channels_select: { value: 'selected_channels', initial: 'initial_channels', many: true },
  multi_conversations_select: {
    value: 'selected_conversations',
    initial: 'initial_conversations',
    many: true,
  },
};
