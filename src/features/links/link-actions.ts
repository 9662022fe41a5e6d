/** The buttons of payment links, wherever they stand; each carries the reference of its link. */
export const linkActions = {
  check: 'link_check',
  share: 'link_share',
  show: 'link_show',
  again: 'link_again',
} as const;

export const linkModalId = 'link';
export const shareModalId = 'link_share';
