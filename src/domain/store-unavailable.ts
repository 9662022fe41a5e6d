/** The store did not answer in time, or refused. Whether the call was carried out is unknown. */
export class StoreUnavailable extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'StoreUnavailable';
  }
}
