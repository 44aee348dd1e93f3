import { accessSync, constants } from 'node:fs';
import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { AGENTS, type AgentName } from '../domain/skill/agent-file.ts';
import { optionalText, refuse } from './fields.ts';

/**
 * The command-line agents that the operator has turned on: `codex=/usr/local/bin/codex, claude=/opt/claude`.
 */
export const agentsSchema = z
  .object({
    COUNTERSIGN_AGENTS: optionalText.transform((value, ctx) => {
      if (value === undefined) return undefined;
      const agents: Partial<Record<AgentName, string>> = {};
      for (const part of value.split(',').map((piece) => piece.trim())) {
        const [, name, path = ''] = /^(\w+)=(.+)$/.exec(part) ?? [];
        const agent = AGENTS.find((known) => known === name);
        if (!agent || !isAbsolute(path) || agents[agent] !== undefined) {
          return refuse(
            ctx,
            `must be <agent>=<absolute path>, such as codex=/opt/codex, with each of ${AGENTS.join(', ')} at most once`,
          );
        }
        if (!isExecutable(path)) return refuse(ctx, `names no program for ${agent} that can be run`);
        agents[agent] = path;
      }
      return agents;
    }),
  })
  .transform((env) => (env.COUNTERSIGN_AGENTS ? { agents: env.COUNTERSIGN_AGENTS } : {}));

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
