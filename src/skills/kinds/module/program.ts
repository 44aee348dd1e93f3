import { z } from 'zod';
import type { Json } from '../../../core/canonical.ts';
import type { SkillOutcome } from '../../../domain/skill/manifest.ts';
import { type Module, type ModuleTool, REASONING } from '../../../domain/skill/module.ts';
import { HOST_FUNCTIONS } from '../code/protocol.ts';
import { membersOf, type Values } from './shape.ts';
import type { Program, ProgramField } from './sidecar/protocol.ts';

export interface ModuleLimits {
  modelCalls: number;
  maxOutputTokens: number;
  timeoutMs: number;
}

export function limitsOf({ template, limits = {} }: Module): ModuleLimits {
  return {
    modelCalls: limits.model_calls ?? (template === 'react' ? 10 : 2),
    maxOutputTokens: limits.max_output_tokens ?? 8_000,
    timeoutMs: (limits.timeout_seconds ?? 180) * 1_000,
  };
}

/** The module as the sidecar receives it. */
export function programOf(module: Module, outcome: SkillOutcome, demos: Values[]): Program {
  const { template, signature, tools = [] } = module;
  const members = membersOf(outcome);
  const outputs = Object.entries(signature.outputs).map(
    ([name, { type, description, options }]): ProgramField => ({
      name,
      type,
      optional: false,
      ...(options ? { options } : {}),
      ...described(description, members[name]),
    }),
  );
  return {
    instruction: [signature.instruction, ...tools.slice(0, 1).map(howToCall)].join('\n\n'),
    inputs: Object.entries(signature.inputs).map(([name, { type, description, optional = false }]) => ({
      name,
      type,
      optional,
      ...described(description, undefined),
    })),
    outputs: template === 'predict' ? outputs : [REASONING_FIELD, ...outputs],
    tools: tools.map((name) => ({ name, description: TOOLS[name].does, parameters: parametersOf(name) })),
    // One more than allowed, so that the app's own message reports the limit.
    steps: limitsOf(module).modelCalls + 1,
    demos,
  };
}

/** The model gets no tools from the provider: a call is one of its possible answers. */
function howToCall(tool: ModuleTool): string {
  return `To call a function, answer with {"reasoning": "…", "call": "${tool}", "arguments": {…}} in place of the output fields.`;
}

const REASONING_FIELD: ProgramField = {
  name: REASONING,
  type: 'string',
  description: 'Step by step, what leads to the other fields.',
  optional: false,
};

/** What each does, and its arguments by name; programs pass them by position. */
const TOOLS: Readonly<Record<ModuleTool, { does: string; names: readonly string[] }>> = {
  search: { does: 'Lines of the changed files with exactly this text.', names: ['text'] },
  get_file: { does: 'The text of a file at the head.', names: ['path'] },
  get_files: { does: 'The texts of files at the head.', names: ['paths'] },
  get_diff: { does: 'The whole change, as git diff writes it.', names: [] },
  get_history: { does: 'The newest commits that changed a path.', names: ['path'] },
};

/** The arguments in the order of a program's functions. Those functions reject missing or unknown ones. */
export function argumentsOf(tool: ModuleTool, values: Json): Json[] {
  const given = typeof values === 'object' && values !== null && !Array.isArray(values) ? values : {};
  return TOOLS[tool].names.map((name) => given[name] ?? null);
}

function parametersOf(tool: ModuleTool): Values {
  const { items = [] } = HOST_FUNCTIONS[tool].def;
  const shape = TOOLS[tool].names.map((name, index) => [name, items[index] ?? z.json()]);
  return plainSchema(z.strictObject(Object.fromEntries(shape)));
}

function described(description: string | undefined, member: z.ZodType | undefined): { description?: string } {
  if (!member) return description === undefined ? {} : { description };
  const shape = `JSON Schema: ${JSON.stringify(plainSchema(member))}`;
  return { description: description === undefined ? shape : `${description} ${shape}` };
}

function plainSchema(schema: z.ZodType): Values {
  const { $schema, ...plain } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return plain as Values;
}
