import { unreachable } from '../../../core/errors.ts';
import type { ProviderName } from '../../../domain/model/name.ts';
import type { AgentName } from '../../../domain/skill/agent-file.ts';
import { INSIDE } from './sandbox.ts';

/** How hard a model thinks; each agent has its own option for it. */
const EFFORTS = ['low', 'medium', 'high'] as const;
export type AgentEffort = (typeof EFFORTS)[number];

/** A step's input `effort`, if an agent knows it. */
export function effortIn({ effort }: Readonly<Record<string, unknown>>): AgentEffort | undefined {
  return EFFORTS.find((known) => known === effort);
}

/** The address and credentials of an agent's model. They identify the run. */
export interface Endpoint {
  /** Such as `http://127.0.0.1:8377/<secret>/v1`. */
  url: string;
  token: string;
  model: string;
}

export const ANSWER_FILE = '/tmp/answer.json';

/** The providers that an agent supports. */
export const PROVIDERS_OF: Readonly<Record<AgentName, readonly ProviderName[]>> = {
  codex: ['openai', 'openai-compatible'],
  claude: ['anthropic'],
};

/**
 * An agent's arguments. They disable the agent's own sandbox, which cannot be created inside ours, and
 * everything that it would do besides the task.
 */
export function argumentsOf(
  agent: AgentName,
  { url, model }: Endpoint,
  schema: string,
  effort?: AgentEffort,
): string[] {
  switch (agent) {
    case 'codex':
      return [
        'exec',
        '--skip-git-repo-check',
        '--dangerously-bypass-approvals-and-sandbox',
        '--ephemeral',
        '--model',
        model,
        ...[
          'model_provider="countersign"',
          `model_providers.countersign={name="countersign",base_url="${url}",env_key="AGENT_TOKEN",wire_api="responses"}`,
          'web_search="disabled"',
          'analytics.enabled=false',
          'check_for_update_on_startup=false',
          // https://github.com/openai/codex/blob/main/docs/config.md#model_reasoning_effort
          ...(effort === undefined ? [] : [`model_reasoning_effort="${effort}"`]),
        ].flatMap((setting) => ['--config', setting]),
        '--output-schema',
        INSIDE.schema,
        '--output-last-message',
        ANSWER_FILE,
        '-',
      ];
    case 'claude':
      return [
        '--print',
        '--output-format',
        'json',
        '--json-schema',
        schema,
        '--model',
        model,
        '--dangerously-skip-permissions',
      ];
    default:
      return unreachable(agent);
  }
}

export function environmentOf(agent: AgentName, { url, token }: Endpoint): Record<string, string> {
  const everybody = {
    HOME: INSIDE.home,
    PATH: '/usr/local/bin:/usr/bin:/bin',
    TMPDIR: '/tmp',
    LANG: 'C.UTF-8',
  };
  switch (agent) {
    case 'codex':
      return { ...everybody, AGENT_TOKEN: token };
    case 'claude':
      return {
        ...everybody,
        ANTHROPIC_BASE_URL: url.replace(/\/v1$/, ''),
        ANTHROPIC_AUTH_TOKEN: token,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        DISABLE_AUTOUPDATER: '1',
        // Otherwise it refuses to run as root. It is root only in its own namespace.
        IS_SANDBOX: '1',
      };
    default:
      return unreachable(agent);
  }
}

/** The agent's answer as text. Others validate it. */
export function answerIn(agent: AgentName, { answer, stdout }: { answer: string; stdout: string }): string {
  switch (agent) {
    case 'codex':
      return answer;
    case 'claude':
      return resultIn(stdout);
    default:
      return unreachable(agent);
  }
}

/** Format: `{"type": "result", "is_error": false, "result": "…", "structured_output": {…}}` */
function resultIn(stdout: string): string {
  try {
    const reply = JSON.parse(stdout) as {
      is_error?: unknown;
      result?: unknown;
      structured_output?: unknown;
    } | null;
    if (reply?.is_error !== false) return '';
    if (reply.structured_output !== undefined) return JSON.stringify(reply.structured_output);
    return typeof reply.result === 'string' ? reply.result : '';
  } catch {
    return '';
  }
}
