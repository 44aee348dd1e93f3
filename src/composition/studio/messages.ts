import type { AppConfig } from '../../config/config.ts';
import type { AppHealth } from '../../ports/app-health.ts';

/** What Studio needs to start in another thread. */
export interface StudioStart {
  config: AppConfig;
  /** The app's secrets by name, so that no line of its log shows one. */
  secrets: Readonly<Record<string, string>>;
}

export interface RunningStudio {
  /** The Unix socket that it listens on. */
  socketPath: string;
  /** Resolves when it ends by itself. */
  ended: Promise<void>;
  stop(): Promise<void>;
}

/** From Studio's thread to the one that started it. */
export type FromStudio =
  | { kind: 'listening'; socketPath: string }
  /** How is the app? */
  | { kind: 'ask'; id: number };

/** To Studio's thread. `health` is absent if the app could not say. */
export type ToStudio = { kind: 'close' } | { kind: 'answer'; id: number; health?: AppHealth };
