import { CountersignError } from '../core/errors.ts';

/** Another process holds the database locked: nothing was read or written, and it passes when that process is done. */
export class StorageLocked extends CountersignError {
  constructor(message: string, options?: ErrorOptions) {
    super('storage.unavailable', message, options);
    this.name = 'StorageLocked';
  }
}
