/**
 * The repositories that somebody may see. Every query for a page takes it, so that no page can forget to ask. Only
 * the access check makes it (`entrypoints/studio/access.ts`; a test holds this).
 */
export class Visible {
  /** `undefined`: all of them. */
  readonly ids: readonly number[] | undefined;
  readonly #known: ReadonlySet<number> | undefined;

  private constructor(ids: readonly number[] | undefined) {
    this.ids = ids;
    this.#known = ids && new Set(ids);
  }

  /** For somebody on the server's own machine, who can read the database anyway. */
  static everything(): Visible {
    return new Visible(undefined);
  }

  static only(ids: readonly number[]): Visible {
    return new Visible(ids);
  }

  has(repositoryId: number): boolean {
    return this.#known === undefined || this.#known.has(repositoryId);
  }
}
