import { html } from 'hono/html';
import type { SkillUse, StoredVersion, VisibleTrace } from '../../ports/operations.ts';
import type { AdoptedSkill } from '../../ports/storage.ts';
import type { Html } from './layout.ts';
import { dataTable, time } from './parts.ts';
import { said } from './untrusted.ts';

/** The skills that were used, and the packages of indexes. */
export function skillsPage({
  uses,
  adopted,
}: {
  uses: readonly SkillUse[];
  adopted: readonly AdoptedSkill[];
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
}`;
}

/** One skill: its versions and its newest traces. */
export function skillPage({
  name,
  traces,
  versions,
}: {
  name: string;
  traces: readonly VisibleTrace[];
  versions: readonly StoredVersion[];
}): Html {
  return html`<p><a href="/skills">Skills</a></p>
<h1>${said(name, 100)}</h1>
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
