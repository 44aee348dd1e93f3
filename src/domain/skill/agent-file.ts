import { z } from 'zod';
import { type Diagnostic, notAllowed } from '../../core/diagnostic.ts';
import { readYaml } from '../chain/positions.ts';
import { checkShape, duration, listOrOne } from '../chain/shape.ts';
import { globSchema } from '../chain/trigger-schema.ts';

/** The supported command-line agents. Each uses its model's own protocol. */
export const AGENTS = ['codex', 'claude'] as const;
export type AgentName = (typeof AGENTS)[number];

const agentFileSchema = z.strictObject({
  agent: z.enum(AGENTS).describe('Which command-line agent is run.'),
  prompt: z
    .string()
    .min(1)
    .max(200)
    .describe('The package’s prompt that it is given, such as prompts/review.md.'),
  timeout: duration('1h').default(900_000).describe('How long it may take; 15m when left out, 1h at most.'),
  paths: listOrOne(globSchema).optional().describe('Globs of the files it may see; all when left out.'),
});
export type AgentFile = z.infer<typeof agentFileSchema>;

/**
 * Reads an `agents/*.yml`, which configures an agent. The outcome is declared in the SKILL.md, as for every
 * kind.
 * @param paths of the package's files
 */
export function readAgentFile(
  text: string,
  file: string,
  paths: readonly string[],
): { value?: AgentFile | undefined; diagnostics: readonly Diagnostic[] } {
  const source = readYaml(text, file);
  if (source.value === undefined) return { diagnostics: source.diagnostics };
  const { value, diagnostics } = checkShape(agentFileSchema, source);
  if (!value) return { diagnostics };
  const prompts = paths.filter((path) => /^prompts\/[^@]+$/.test(path));
  if (prompts.includes(value.prompt)) return { value, diagnostics: [] };
  return {
    diagnostics: [
      source.diagnostic(
        ['prompt'],
        notAllowed(`the package has no "${value.prompt}"`, prompts, value.prompt),
      ),
    ],
  };
}
