import { type AxFunction, AxGen, type AxSignatureConfig, axGlobals } from '@ax-llm/ax';
import type { Json } from '../../../../core/canonical.ts';
import { callTool } from './app.ts';
import { modelOf } from './model.ts';
import type { Program, ProgramField } from './protocol.ts';

// The engine rejects names as too general that packages and outcomes use. Our own lint has checked them.
axGlobals.signatureStrict = false;

export type Values = { [name: string]: Json };
export type Gen = AxGen<Values, Values>;

/** Never retried here: the app retries, and counts every call. */
const ONCE = { stream: false, maxRetries: 0 } as const;

/** One answer of a program, as parsed by the engine. The app validates it again. */
export async function execute(
  task: number,
  program: Program,
  inputs: Values,
  signal: AbortSignal,
): Promise<Values> {
  return build(task, program).forward(modelOf(task), inputs, {
    ...ONCE,
    maxSteps: program.steps,
    abortSignal: signal,
  });
}

export function build(task: number, { instruction, inputs, outputs, tools, steps, demos }: Program): Gen {
  const signature: AxSignatureConfig = {
    description: instruction,
    inputs: inputs.map(fieldOf),
    outputs: outputs.map(fieldOf),
  };
  const functions = tools.map(
    ({ name, description, parameters }): AxFunction => ({
      name,
      description: `${description} Arguments: ${JSON.stringify(parameters)}`,
      parameters: parameters as unknown as NonNullable<AxFunction['parameters']>,
      func: (values?: unknown) => callTool(task, name, (values ?? {}) as Json),
    }),
  );
  const gen = new AxGen<Values, Values>(signature, {
    functions,
    maxSteps: steps,
    structuredOutputMode: 'native',
  });
  if (demos.length > 0) gen.setDemos([{ programId: gen.getId(), traces: demos }]);
  return gen;
}

function fieldOf({ name, type, description, options, optional }: ProgramField) {
  const isArray = type === 'string[]';
  return {
    name,
    title: name,
    ...(description === undefined ? {} : { description }),
    isOptional: optional,
    type: { name: isArray ? 'string' : type, isArray, ...(options ? { options } : {}) } as const,
  };
}
