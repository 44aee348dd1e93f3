import type { Octokit } from '@octokit/rest';

/** A GitHub that the suite asks whether it does what this app relies on. */
export interface Target {
  readonly name: string;
  readonly at: { readonly owner: string; readonly repo: string };
  /** May write contents, pull requests and issues. */
  readonly octokit: Octokit;
  /** The same as an App; absent without its credentials. */
  readonly app: AppAccess | undefined;
  /** A person whose role in the repository can be read. */
  readonly person: string | undefined;
  /** The prefix of all branches of the suite; nobody else has such a branch. */
  readonly prefix: string;
  /** How long to wait before a request is repeated, in milliseconds. */
  readonly pauseMs: number;
}

export interface AppAccess {
  readonly id: number;
  /** As the installation on the repository. */
  readonly octokit: Octokit;
  /** As the App itself. */
  readonly jwt: Octokit;
  readonly installationId: number;
  /** A client with another token of the installation. */
  withToken(token: string): Octokit;
}

/** Something that an assertion needs is missing; the reason is shown beside the skipped test. */
export class Unavailable extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'Unavailable';
  }
}

export function needApp({ app }: Target): AppAccess {
  if (!app) throw new Unavailable('needs the credentials of an App (COUNTERSIGN_CONFORMANCE_APP_ID, …)');
  return app;
}

/** Status and message of a refusal. @throws Error if it was none. */
export async function refusalOf(call: Promise<unknown>): Promise<{ status: number; message: string }> {
  let answer: unknown;
  try {
    answer = await call;
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return { status: error.status, message: error.response?.data?.message ?? '' };
  }
  throw new Error(`It was not refused: ${JSON.stringify(answer)?.slice(0, 200)}`);
}

function isRefusal(
  error: unknown,
): error is Error & { status: number; response?: { data?: { message?: string } } } {
  return error instanceof Error && 'status' in error && typeof error.status === 'number';
}

export function isStatus(error: unknown, ...statuses: readonly number[]): boolean {
  return isRefusal(error) && statuses.includes(error.status);
}
