import type { RepositoryState } from '../domain/run/report.ts';
import type { Visible } from './visible.ts';

/** What a list of repositories is narrowed to. */
export interface RepositoryFilter {
  visible: Visible;
  /** The login of the owner, in any case. */
  owner?: string | undefined;
  /** `owner/name`, in any case. */
  repository?: string | undefined;
}

/** In the order of the list. */
export interface RepositoryPosition {
  repository: string;
  repositoryId: number;
}

/** How repositories were when their default branch was last read. */
export interface RepositoryStates {
  /** Writes nothing if it is as it was. */
  put(state: RepositoryState, at: Date): Promise<void>;
  /** Those that the app can no longer see. */
  remove(of: { repositoryId: number } | { installationId: number }): Promise<void>;
  /** By name. */
  list(
    filter: RepositoryFilter,
    page: { after?: RepositoryPosition | undefined; limit: number },
  ): Promise<RepositoryState[]>;
}
