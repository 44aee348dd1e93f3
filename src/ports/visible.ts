import type { RepositoryRole } from '../domain/policy/role.ts';

/**
 * The repositories that somebody may see. Every query for a page takes it, so that no page can forget to ask. Only
 * the access check makes it (`entrypoints/studio/access.ts`; a test holds this).
 */
export class Visible {
  /** `undefined`: all of them. */
  readonly ids: readonly number[] | undefined;
  readonly #known: ReadonlySet<number> | undefined;
  readonly #roles: ReadonlyMap<number, RepositoryRole>;

  private constructor(
    ids: readonly number[] | undefined,
    roles: ReadonlyMap<number, RepositoryRole> = new Map(),
  ) {
    this.ids = ids;
    this.#known = ids && new Set(ids);
    this.#roles = roles;
  }

  /** For somebody on the server's own machine, who can read the database anyway. */
  static everything(): Visible {
    return new Visible(undefined);
  }

  /** @param roles those that GitHub named beside the repositories */
  static only(ids: readonly number[], roles?: ReadonlyMap<number, RepositoryRole>): Visible {
    return new Visible(ids, roles);
  }

  /** For display only: no right depends on it. `undefined` if it is not known. */
  roleIn(repositoryId: number): RepositoryRole | undefined {
    return this.#roles.get(repositoryId);
  }

  has(repositoryId: number): boolean {
    return this.#known === undefined || this.#known.has(repositoryId);
  }
}
