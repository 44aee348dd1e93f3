import { redact } from '../../core/redact/redact.ts';
import type { Span } from '../../ports/traces.ts';

/** Numbers of `SpanKind` and of the status in OpenTelemetry's protocol. */
const KINDS = { internal: 1, server: 2, client: 3 } as const;
const FAILED = 2;

const MS_IN_NS = 1_000_000n;

/**
 * The body of a request to `/v1/traces`, as JSON:
 * https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding. Every text is redacted, whatever made the span.
 */
export function encodeSpans(spans: readonly Span[], service: string): object {
  return {
    resourceSpans: [
      {
        resource: { attributes: attributesOf({ 'service.name': service }) },
        scopeSpans: [{ scope: { name: 'countersign' }, spans: spans.map(encodeSpan) }],
      },
    ],
  };
}

function encodeSpan({
  traceId,
  spanId,
  parentId,
  name,
  kind,
  startedAt,
  endedAt,
  attributes,
  error,
}: Span): object {
  return {
    traceId,
    spanId,
    ...(parentId !== undefined && { parentSpanId: parentId }),
    name: redact(name),
    kind: KINDS[kind],
    startTimeUnixNano: nanosecondsOf(startedAt),
    endTimeUnixNano: nanosecondsOf(endedAt),
    attributes: attributesOf(attributes),
    status: error === undefined ? {} : { code: FAILED, message: redact(error) },
  };
}

function attributesOf(attributes: Span['attributes']): object[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: encodeValue(value) }));
}

/** The protocol has 64-bit integers, which JSON writes as texts. */
function encodeValue(value: string | number | boolean): object {
  if (typeof value === 'string') return { stringValue: redact(value) };
  if (typeof value === 'boolean') return { boolValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

function nanosecondsOf(time: Date): string {
  return String(BigInt(time.getTime()) * MS_IN_NS);
}
