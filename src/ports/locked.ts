import { CountersignError } from '../core/errors.ts';

/**
 * Another process holds a lock on the database. Nothing was read or written. It is over when that process is
 * done.
 */
export class StorageLocked extends CountersignError {
  constructor(message: string, options?: ErrorOptions) {
    super('storage.unavailable', message, options);
    this.name = 'StorageLocked';
  }
}
