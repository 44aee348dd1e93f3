import type { Repo } from './github.ts';

/** What GitHub gives for a person who lets the App act for them. */
export interface PersonTokens {
  access: string;
  /** `null`: it does not expire, which is a setting of the App. */
  accessUntil: Date | null;
  /** Works once. `null` if the other one does not expire. */
  refresh: string | null;
}

/** What must be the same when the person comes back from GitHub. */
export interface BegunSignIn {
  /** Where GitHub sends the person. */
  redirectUri: string;
  state: string;
  /** The secret of PKCE. */
  verifier: string;
}

/** The account of a token. */
interface TokenOwner {
  id: number;
  login: string;
}

/**
 * GitHub on behalf of a person, with a token of theirs for the App: it can do what both the person and the App can.
 * All methods reject with `GitHubError` if GitHub does not answer, and with `TokenRefused` if it does not accept the
 * token. https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/authenticating-with-a-github-app-on-behalf-of-a-user
 */
export interface GitHubForPeople {
  newSecrets(): Pick<BegunSignIn, 'state' | 'verifier'>;
  /** GitHub's page on which the person agrees. */
  authorizeUrl(begun: BegunSignIn): Promise<string>;
  /**
   * @param answer the query with which GitHub sent the person back
   * @throws SignInFailed
   */
  exchange(answer: URLSearchParams, begun: BegunSignIn): Promise<PersonTokens>;
  refresh(refreshToken: string): Promise<PersonTokens>;
  owner(token: string): Promise<TokenOwner>;
  /** The ids of the repositories with the App that the person has access to, at most 5,000. */
  repositoryIds(token: string): Promise<number[]>;
  /** Adds the person's own reaction to a comment. Adding it again changes nothing. */
  react(token: string, repo: Repo, commentId: number, content: string): Promise<ReactionResult>;
}

type ReactionResult =
  | { kind: 'done' }
  /** 403, 404, 422, with GitHub's sentence. */
  | { kind: 'refused'; message: string };

/** GitHub does not accept the person's token: it expired, or the person revoked it. */
export class TokenRefused extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'TokenRefused';
  }
}

/** The person did not agree, or came back from somewhere else than the page that they were sent to. */
export class SignInFailed extends Error {
  readonly because: 'denied' | 'refused';

  constructor(because: SignInFailed['because'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'SignInFailed';
    this.because = because;
  }
}
