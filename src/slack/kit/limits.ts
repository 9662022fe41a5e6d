/**
 * All limits of Slack that the bot can meet. Lengths of text are in UTF-16 units, which are never fewer than Slack's
 * characters. If Slack's documents and its behaviour differ, the smaller number is used.
 */
export const limits = {
  messageBlocks: 50,
  /** All block text of one message; Slack answers `msg_blocks_too_long` slightly above. */
  messageBlockText: 13_200,

  viewBlocks: 100,
  viewBytes: 250_000,
  viewTitle: 24,
  viewButton: 24,
  privateMetadata: 3000,
  callbackId: 255,

  blockId: 255,
  actionId: 255,
  url: 3000,
  textObject: 3000,
  sectionText: 3000,
  headerText: 150,
  contextElements: 10,
  contextText: 2000,
  actionsElements: 25,

  inputLabel: 2000,
  inputHint: 2000,
  inputLength: 3000,
  placeholder: 150,

  buttonText: 75,
  buttonValue: 2000,
  confirmTitle: 100,
  confirmText: 300,
  confirmButton: 30,

  options: 100,
  overflowOptions: 5,
  optionText: 75,
  optionValue: 150,
} as const;
