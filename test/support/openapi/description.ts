import { readFileSync } from 'node:fs';
import { z } from 'zod';

const schema = z.record(z.string(), z.json());

/** A JSON schema as OpenAPI 3.0 writes it (`nullable` instead of a `null` type). */
export type Schema = z.infer<typeof schema>;

const operation = z.strictObject({
  parameters: z.array(
    z.strictObject({
      name: z.string(),
      in: z.enum(['path', 'query']),
      required: z.boolean().default(false),
      /** The value may contain slashes that are not percent-encoded, as `docs/a.md` in `contents/{path}`. */
      'x-multi-segment': z.boolean().default(false),
      schema,
    }),
  ),
  requestBody: z
    .strictObject({
      required: z.boolean(),
      content: z.strictObject({ 'application/json': z.strictObject({ schema }) }),
    })
    .optional(),
});

/** What GitHub's description says about the request of one operation. */
export type Operation = z.infer<typeof operation>;

const description = z.object({ paths: z.record(z.string(), z.record(z.string(), operation)) });

/** The committed extract of GitHub's description; `scripts/extract-openapi.ts` writes it. */
export function readDescription(): z.infer<typeof description> {
  return description.parse(
    JSON.parse(readFileSync(new URL('./github.openapi.json', import.meta.url), 'utf8')),
  );
}
