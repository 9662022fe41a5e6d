/** The buttons of a storm’s digest; each carries the storm’s id. */
export const stormActions = {
  acknowledgeAll: 'storm_acknowledge_all',
  showList: 'storm_show_list',
  csv: 'storm_csv',
  /** In the list: they carry the page they lead to, a bar and the storm’s id. */
  back: 'storm_list_back',
  next: 'storm_list_next',
} as const;

export function writeListPage(storm: string, page: number): string {
  return `${page}|${storm}`;
}

/** Undefined for a value that is not ours. */
export function readListPage(value: string): { storm: string; page: number } | undefined {
  const [, page, storm] = /^(\d{1,6})\|(.+)$/.exec(value) ?? [];
  return page === undefined || storm === undefined ? undefined : { storm, page: Number(page) };
}
