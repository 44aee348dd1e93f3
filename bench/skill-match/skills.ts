import type { SkillPackage } from '../../src/domain/skill/package.ts';
import { parsePackage } from '../../src/domain/skill/parse.ts';

const SUBJECTS = [
  'api',
  'cache',
  'database',
  'docs',
  'frontend',
  'helm',
  'logging',
  'migration',
  'payment',
  'queue',
  'schema',
  'search',
  'session',
  'terraform',
  'workflow',
];
const TASKS = [
  'audit',
  'check',
  'compare',
  'explain',
  'lint',
  'measure',
  'plan',
  'review',
  'summarise',
  'trace',
];
const MANNERS = ['deep', 'quick', 'strict', 'weekly'];

/** This many skills, each with as much metadata as a carefully written one. All are different. */
export function manySkills(count: number): SkillPackage[] {
  return Array.from({ length: count }, (_, index) => {
    const subject = SUBJECTS[index % SUBJECTS.length] ?? '';
    const task = TASKS[Math.floor(index / SUBJECTS.length) % TASKS.length] ?? '';
    const manner = MANNERS[Math.floor(index / (SUBJECTS.length * TASKS.length)) % MANNERS.length] ?? '';
    const name = `${manner}-${task}-${subject}-${index}`;
    const text = [
      '---',
      `name: ${name}`,
      `description: A ${manner} skill to ${task} what a pull request changes in the ${subject}, with number ${index}, its risks and what to do about them.`,
      `tags: [${subject}, ${task}, ${manner}, team-${index % 40}]`,
      'intent_patterns:',
      `  - "${task}\\\\w* (the |this |our )?${subject}"`,
      `  - "(how|why|where) (does|is|did) .*${subject}.*\\\\?"`,
      `  - "\\\\b${manner} (look|pass)\\\\b"`,
      `trigger_phrases: ["${task} the ${subject}", "${manner} ${task} of ${subject} ${index}"]`,
      `paths: ["${subject}/**", "src/**/${subject}*.ts", "**/${subject}-${index % 50}/*.sql"]`,
      'outcome: review_verdict',
      '---',
      '',
    ].join('\n');
    const { skill, diagnostics } = parsePackage([{ path: 'SKILL.md', text }], name);
    if (!skill) throw new Error(diagnostics.map(({ message }) => message).join('; '));
    return skill;
  });
}
