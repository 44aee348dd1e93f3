import type { Clock } from '../core/clock.ts';

/**
 * The share that this process has of the work on a database, of which several processes do it side by side. Each installation has a
 * lease, and only the process with the lease does its work, so it knows what is left of the installation's budget at GitHub.
 */
export interface WorkShare {
  /** Names this process in the leases. */
  readonly worker: string;
  /** The time by which all processes that share the work go, however wrong the clock of one is. */
  readonly clock: Clock;
  /** Whether this process has the lease of the installation, or of the app's own work. It may have more leases than it knows of. */
  has(installationId: number | null): boolean;
  /** How many installations this process has the lease of, and whether it has that of the app's own work. */
  leases(): { installations: number; ownWork: boolean };
  /**
   * Calls back when this process has got installations, and what it remembers of them is out of date. Processes that held jobs of them
   * have ended, or hold none. Listeners are called in the order in which they were added.
   */
  onGained(listener: (installations: readonly number[]) => void): void;
  /**
   * Whether this process may begin to send a write to GitHub: not if it was silent for so long that another one may soon do the same
   * work. Ask at the last moment, because it may have been cut off or stopped since it took the job.
   */
  mayWrite(): boolean;
  /** Asks for leases from now on. */
  begin(): void;
  /** Asks for no more, and gives up each lease as soon as no job of its installation is held. */
  retire(): void;
}
