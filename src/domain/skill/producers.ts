import { OWN_FILES } from '../artifact/left-files.ts';
import type { SkillArtifact } from './skill.ts';

interface Producer {
  /** In Markdown, for docs/contracts.md. */
  who: string;
  how: string;
  /** What such a file of a package does where others have `produces`, as a clause. */
  instead?: string;
}

type BuiltIn = 'ci' | 'pr-review' | 'codex-pr-review';

/** Everything that can leave files, and how. docs/contracts.md shows this list. */
export const PRODUCERS: Record<Exclude<SkillArtifact['kind'], 'description'> | BuiltIn, Producer> = {
  prompt_template: {
    who: 'a prompt',
    how: "`artifacts: { prompts/review.md: { produces: { path: review.md } } }` in the SKILL.md: the model then also writes the file's content, up to 100,000 characters",
  },
  dspy_module: {
    who: 'a [module](modules.md)',
    how: 'the same with `output`, the name of the text output that has the content: `produces: { path: review.md, output: report }`',
  },
  code_template: {
    who: 'a [program](code-templates.md#what-a-program-can-use)',
    how: '`write_artifact(name, content)`',
    instead: 'a program calls write_artifact',
  },
  agent: {
    who: 'an [agent](agents.md)',
    how: 'the files of its folder `/artifacts` when it ends',
    instead: 'an agent writes to /artifacts',
  },
  analyzer: {
    who: 'an [analyzer](skills.md#analyzers)',
    how: 'nothing of its own',
    instead: 'an analyzer leaves no files of its own',
  },
  ci: {
    who: '`ci`',
    how: `\`with: { artifacts: [coverage] }\` in its step: the files of that workflow artifact of the head, as \`coverage/<path>\`. \`${OWN_FILES.ci}\` says what was missing or refused.`,
  },
  'pr-review': { who: '`pr-review`', how: `\`${OWN_FILES.review}\`` },
  'codex-pr-review': {
    who: '`codex-pr-review`',
    how: `as an agent; \`${OWN_FILES.review}\` if the built-in review replaced Codex`,
  },
};
