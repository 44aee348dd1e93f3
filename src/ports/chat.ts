import { redact } from '../core/redact/redact.ts';

/** The webhooks that the operator has named. Only their names appear outside of the adapter. */
export interface Chat {
  has(webhook: string): boolean;
  /**
   * Posts a message once.
   * @throws ChatError
   */
  post(webhook: string, message: ChatMessage): Promise<void>;
}

interface ChatMessage {
  /** In Slack's format. */
  text: string;
  /** What a signed webhook gets. The text, if left out. */
  data?: MessageData | undefined;
  /** The same for each attempt at a message, so that a receiver can recognise a repetition. */
  id: string;
  /** When it was requested. */
  at: Date;
}

/** Facts for programs. */
type MessageData = Readonly<Record<string, string | number | null>>;

/** A message was not posted, as far as is known. Its text never has the webhook's address. */
export class ChatError extends Error {
  /** Whether another attempt may succeed. */
  readonly isTemporary: boolean;
  /** How long the receiver asks to wait, in milliseconds. */
  readonly waitMs: number | undefined;

  constructor(
    message: string,
    { isTemporary, waitMs }: { isTemporary: boolean; waitMs?: number | undefined },
  ) {
    super(redact(message));
    this.name = 'ChatError';
    this.isTemporary = isTemporary;
    this.waitMs = waitMs;
  }
}
