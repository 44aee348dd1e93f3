/** Somebody who is signed in to Studio, in one browser. */
export interface StudioSession {
  /** The hash of the token in the browser's cookie. */
  tokenHash: string;
  /** Of the token before, which counts until the browser has the new one, and then for a moment. */
  previousHash: string | null;
  previousUntil: Date | null;
  /** On GitHub. */
  personId: number;
  login: string;
  /** The person's tokens and the secret of their forms, encrypted. */
  sealed: Uint8Array;
  signedInAt: Date;
  rotatedAt: Date;
  /** About when the person last sent a request. */
  seenAt: Date;
  expiresAt: Date;
}

export interface StudioSessions {
  insert(session: StudioSession): Promise<void>;
  /** The session of a token that still counts. */
  find(tokenHash: string, now: Date): Promise<StudioSession | undefined>;
  /** The session of a sign-in, whatever its token is by now. */
  ofSignIn(of: Pick<StudioSession, 'personId' | 'signedInAt'>, now: Date): Promise<StudioSession | undefined>;
  /** The person's newest sessions. */
  ofPerson(personId: number, limit: number, now: Date): Promise<StudioSession[]>;
  /** Returns whether it exists. The sign-in itself never changes. */
  change(
    tokenHash: string,
    changed: Partial<Omit<StudioSession, 'personId' | 'signedInAt'>>,
  ): Promise<boolean>;
  remove(tokenHash: string): Promise<void>;
  removeOfPerson(personId: number): Promise<void>;
  removeExpired(now: Date): Promise<void>;
}

/** A command that somebody gave in Studio, and what became of it. */
interface StudioCommand {
  id: string;
  /** On GitHub. */
  personId: number;
  repositoryId: number;
  askedAt: Date;
  /** `null` until it was executed or refused. The text is Markdown. */
  answer: { ok: boolean; text: string } | null;
}

export interface StudioCommands {
  insert(command: Omit<StudioCommand, 'answer'>): Promise<void>;
  get(id: string): Promise<StudioCommand | undefined>;
  answer(id: string, answer: NonNullable<StudioCommand['answer']>): Promise<void>;
  removeBefore(askedAt: Date): Promise<void>;
}
