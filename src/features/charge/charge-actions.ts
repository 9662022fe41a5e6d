/** The buttons of a charge. Each carries the charge's reference; `change` none, because its modal says which terms. */
export const chargeActions = {
  enterCode: 'otp_enter',
  resend: 'otp_resend',
  takeOver: 'otp_take_over',
  checkNow: 'charge_check',
  another: 'charge_another',
  savingLink: 'charge_link',
  change: 'charge_change',
  /** In the form: the fields that few need. */
  more: 'charge_more',
  show: 'charge_show',
  /** Opens the form of `/pay card-email` for the charge's card. */
  changeEmail: 'card_email_for',
  /** The typeahead over saved cards; its block has the same id. */
  card: 'charge_card',
} as const;
