import { html } from 'hono/html';
import type { SkillArtifact } from '../../domain/skill/skill.ts';
import type { SkillUse, StoredVersion, VisibleTrace } from '../../ports/operations.ts';
import type { AdoptedSkill } from '../../ports/storage.ts';
import type { Html } from './layout.ts';
import { dataTable, time } from './parts.ts';
import { said } from './untrusted.ts';

/** What is known of a package. */
export interface ShownPackage {
  name: string;
  version: string | null;
  description: string;
  artifacts: readonly Pick<SkillArtifact, 'kind' | 'name'>[];
}

const KIND_WORDS: Readonly<Record<SkillArtifact['kind'], string>> = {
  description: 'description',
  prompt_template: 'prompt',
  code_template: 'program',
  dspy_module: 'module',
  analyzer: 'analyzer',
  agent: 'agent',
};

/** What the package works with; every package has a description. */
function kindsOf({ artifacts }: ShownPackage): string {
  const kinds = new Set(artifacts.flatMap(({ kind }) => (kind === 'description' ? [] : KIND_WORDS[kind])));
  return [...kinds].join(', ');
}

/** The skills that were used, the packages of indexes, and those that ship. */
export function skillsPage({
  uses,
  adopted,
  shipped,
}: {
  uses: readonly SkillUse[];
  adopted: readonly AdoptedSkill[];
  shipped: readonly ShownPackage[];
}): Html {
  return html`<h1>Skills</h1>
${
  uses.length === 0
    ? html`<p class="empty">No skill of a package was used yet. What the shipped chain uses is built in. A step with another skill, such as <b>docs-review</b>, is listed here once it has run.</p>`
    : dataTable(
        ['Skill', 'Used', 'Failed', 'Tokens', 'Cost', 'Last'],
        uses.map((use) => [
          link(use.skill),
          use.traces,
          use.failed,
          use.tokens,
          dollars(use.cost),
          time(use.lastAt),
        ]),
      )
}
<p class="quiet">From the newest 5,000 traces of this server.</p>
${
  adopted.length === 0
    ? ''
    : html`<h2>From indexes</h2>${dataTable(
        ['Skill', 'Version', 'Index'],
        adopted.map((one) => [link(one.name), said(one.version ?? '', 50), said(one.marketplaceId, 200)]),
      )}`
}
${
  shipped.length === 0
    ? ''
    : html`<h2>Shipped with Countersign</h2>${dataTable(
        ['Skill', 'Version', 'Kinds', 'What it does'],
        shipped.map((one) => [
          link(one.name),
          said(one.version ?? '', 50),
          kindsOf(one),
          said(one.description, 300),
        ]),
      )}`
}`;
}

/** One skill: what it is, its versions and its newest traces. */
export function skillPage({
  name,
  shown,
  traces,
  versions,
}: {
  name: string;
  /** As it was used last, or else as it ships. */
  shown: ShownPackage | undefined;
  traces: readonly VisibleTrace[];
  versions: readonly StoredVersion[];
}): Html {
  return html`<p><a href="/skills">Skills</a></p>
<h1>${said(name, 100)}</h1>
${
  shown === undefined
    ? ''
    : html`<p>${said(shown.description, 1_000)}</p>
${dataTable(
  ['Kind', 'Part'],
  shown.artifacts.map((part) => [KIND_WORDS[part.kind], html`<code>${said(part.name, 200)}</code>`]),
)}`
}
${
  versions.length === 0
    ? ''
    : html`<h2>Versions</h2>${dataTable(
        ['Version', 'From', 'Stored'],
        versions.map((one) => [
          said(one.version ?? one.id, 80),
          said(one.index ?? one.source, 200),
          time(one.createdAt),
        ]),
      )}`
}
<h2>Traces</h2>
${
  traces.length === 0
    ? html`<p>It was not used yet.</p>`
    : dataTable(
        ['Artifact', 'Kind', 'Repository', 'Began', 'Took', 'Model', 'Cost', 'Error'],
        traces.map((one) => [
          one.runId === null
            ? said(one.artifact, 100)
            : html`<a href="/runs/${one.runId}">${said(one.artifact, 100)}</a>`,
          one.kind,
          said(one.repository, 150),
          time(one.startedAt),
          `${((one.completedAt.getTime() - one.startedAt.getTime()) / 1_000).toFixed(1)} s`,
          said(one.model ?? '', 100),
          one.cost === null ? '' : dollars(one.cost),
          said(one.error ?? '', 200),
        ]),
      )
}`;
}

function link(name: string): Html {
  return html`<a href="/skills/${encodeURIComponent(name)}">${said(name, 100)}</a>`;
}

function dollars(cost: number): string {
  return `$${(cost / 1_000_000).toFixed(2)}`;
}
