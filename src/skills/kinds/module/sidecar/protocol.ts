import { z } from 'zod';
import type { Json } from '../../../../core/canonical.ts';

/**
 * The protocol between the app and the sidecar: one JSON value per line. Both sides validate: the app because
 * it does not trust the sidecar, the sidecar so that our own mistakes show where they happen.
 */
const json: z.ZodType<Json> = z.json();
const id = z.int().positive();
const values = z.record(z.string(), json);

const fieldSchema = z.strictObject({
  name: z.string(),
  type: z.enum(['string', 'number', 'boolean', 'string[]', 'json', 'class']),
  description: z.string().optional(),
  options: z.array(z.string()).optional(),
  optional: z.boolean(),
});
export type ProgramField = z.infer<typeof fieldSchema>;

const programSchema = z.strictObject({
  instruction: z.string(),
  inputs: z.array(fieldSchema),
  outputs: z.array(fieldSchema),
  tools: z.array(
    z.strictObject({
      name: z.string(),
      description: z.string(),
      /** JSON Schema. */
      parameters: values,
    }),
  ),
  /** The most model calls per execution. */
  steps: id,
  /** Examples of right answers, with inputs and outputs. */
  demos: z.array(values),
});
export type Program = z.infer<typeof programSchema>;

const exampleSchema = z.strictObject({ input: values, expected: values });
export type Example = z.infer<typeof exampleSchema>;

/** A call of one of the sidecar's services. Its answer has the same id. */
const requestSchema = z.discriminatedUnion('service', [
  z.strictObject({ kind: z.literal('request'), id, service: z.literal('manifest') }),
  z.strictObject({
    kind: z.literal('request'),
    id,
    service: z.literal('execute'),
    program: programSchema,
    inputs: values,
  }),
  z.strictObject({
    kind: z.literal('request'),
    id,
    service: z.literal('optimize'),
    program: programSchema,
    examples: z.array(exampleSchema),
    seed: z.int(),
    mostDemos: id,
  }),
]);
export type Request = z.infer<typeof requestSchema>;

export const toSidecarSchema = z.union([
  requestSchema,
  /** The app has ended the task. */
  z.strictObject({ kind: z.literal('cancel'), id }),
  z.strictObject({ kind: z.literal('answer'), id, value: json }),
  z.strictObject({ kind: z.literal('refusal'), id, because: z.string() }),
]);
export type ToSidecar = z.infer<typeof toSidecarSchema>;

const turnSchema = z.discriminatedUnion('role', [
  z.strictObject({ role: z.enum(['system', 'user', 'assistant']), text: z.string() }),
  z.strictObject({ role: z.literal('call'), tool: z.string(), arguments: z.string() }),
  z.strictObject({ role: z.literal('tool'), text: z.string() }),
]);
export type Turn = z.infer<typeof turnSchema>;

export const fromSidecarSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('done'), id, value: json }),
  z.strictObject({ kind: z.literal('failed'), id, because: z.string().max(2_000) }),
  /** A call of the model, for a task. */
  z.strictObject({ kind: z.literal('ask'), id, task: id, turns: z.array(turnSchema).min(1).max(500) }),
  z.strictObject({ kind: z.literal('call'), id, task: id, tool: z.string().max(50), arguments: json }),
]);
export type FromSidecar = z.infer<typeof fromSidecarSchema>;
/** What a task requests from the app. */
export type Wanted = Extract<FromSidecar, { kind: 'ask' | 'call' }>;

/** The sidecar's description of itself. */
export const manifestSchema = z.strictObject({
  services: z.tuple([z.literal('manifest'), z.literal('execute'), z.literal('optimize')]),
  optimizers: z.array(z.string()),
});

/** An answer of the model to `ask` that calls a tool instead of giving outputs. */
export const toolCallSchema = z.strictObject({
  reasoning: z.string().max(20_000).describe('Why this call.'),
  call: z.string().describe('The name of the function.'),
  arguments: z.record(z.string(), json),
});
