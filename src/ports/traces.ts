/** What a span is known by, as OpenTelemetry writes it: 32 and 16 hexadecimal digits. */
export interface SpanRef {
  traceId: string;
  spanId: string;
}

/** A piece of work that is over. */
export interface Span extends SpanRef {
  /** `undefined` for the first of a trace. */
  parentId: string | undefined;
  name: string;
  /** `server`: began with a request to this app. `client`: a request to another server. */
  kind: 'server' | 'internal' | 'client';
  startedAt: Date;
  endedAt: Date;
  attributes: Readonly<Record<string, string | number | boolean>>;
  /** Why the work failed, as a code or a name; absent if it did not. */
  error?: string;
}

/** Where spans are sent. Work never waits for it, and never fails because of it. */
export interface Traces {
  record(span: Span): void;
  /** Sends what is left, for a moment at most. */
  stop(): Promise<void>;
}
