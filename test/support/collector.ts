import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';

const hex = (digits: number) => z.string().regex(new RegExp(`^(?!0+$)[0-9a-f]{${digits}}$`));
const nanoseconds = z.string().regex(/^\d+$/);
const attributesSchema = z
  .array(
    z.strictObject({
      key: z.string(),
      value: z.union([
        z.strictObject({ stringValue: z.string() }),
        z.strictObject({ boolValue: z.boolean() }),
        z.strictObject({ intValue: z.string().regex(/^-?\d+$/) }),
        z.strictObject({ doubleValue: z.number() }),
      ]),
    }),
  )
  .transform((list) => Object.fromEntries(list.map(({ key, value }) => [key, Object.values(value)[0]])));
const spanSchema = z.strictObject({
  traceId: hex(32),
  spanId: hex(16),
  parentSpanId: hex(16).optional(),
  name: z.string().min(1),
  kind: z.int().min(1).max(5),
  startTimeUnixNano: nanoseconds,
  endTimeUnixNano: nanoseconds,
  attributes: attributesSchema,
  status: z.strictObject({ code: z.int().min(1).max(2).optional(), message: z.string().optional() }),
});
export type ReceivedSpan = z.output<typeof spanSchema>;

/** `ExportTraceServiceRequest` as JSON: https://opentelemetry.io/docs/specs/otlp/#otlphttp-request */
const requestSchema = z.strictObject({
  resourceSpans: z.array(
    z.strictObject({
      resource: z.strictObject({ attributes: attributesSchema }),
      scopeSpans: z.array(
        z.strictObject({ scope: z.strictObject({ name: z.string() }), spans: z.array(spanSchema) }),
      ),
    }),
  ),
});

export interface Collector {
  /** As for `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  endpoint: string;
  /** In the order in which they came. */
  spans: ReceivedSpan[];
  requests: { path: string; headers: IncomingHttpHeaders; service: unknown; spans: number; text: string }[];
  /** Answers with these statuses first; `hang` never answers. */
  next: (number | 'hang')[];
  stop(): Promise<void>;
}

/** A collector of OpenTelemetry, which refuses what is not its protocol. */
export async function startCollector(): Promise<Collector> {
  const server = createServer((request, response) => {
    void (async () => {
      const text = Buffer.concat(await request.toArray()).toString();
      const { resourceSpans } = requestSchema.parse(JSON.parse(text));
      const spans = resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans));
      const service = resourceSpans[0]?.resource.attributes['service.name'];
      const { url: path = '', headers } = request;
      collector.requests.push({ path, headers, service, spans: spans.length, text });
      const status = collector.next.shift() ?? 200;
      if (status === 'hang') return;
      if (status === 200) collector.spans.push(...spans);
      response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
    })().catch((error: unknown) => {
      response.writeHead(400).end(String(error));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const collector: Collector = {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans: [],
    requests: [],
    next: [],
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return collector;
}
