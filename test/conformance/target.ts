import type { Octokit } from '@octokit/rest';

/** A GitHub that is asked whether it does what this app relies on. */
export interface Target {
  readonly name: string;
  readonly at: { readonly owner: string; readonly repo: string };
  /** May write contents, pull requests and issues. */
  readonly octokit: Octokit;
  /** The same as an App; absent without its credentials. */
  readonly app: AppAccess | undefined;
  /** A person whose role in the repository can be asked. */
  readonly person: string | undefined;
  /** What all branches of the suite begin with; nobody else has such a branch. */
  readonly prefix: string;
  /** How long to wait before a question is asked again, in milliseconds. */
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

/** What an assertion needs is not there; the reason is what people read beside the skipped test. */
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

/** Status and message of a refusal. @throws Error when it was none. */
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
