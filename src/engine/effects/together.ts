import type { GitHubWriter, Repo, SharedWrite, Urgency, Written } from '../../ports/github.ts';
import { URGENCIES } from '../../ports/github.ts';
import type { Writers } from './writers.ts';

/**
 * Sends the writes of effects that begin in the same turn of the event loop in one request, if they are about the same
 * pull request. That is what one transaction has requested: the check run, the gate check and the comment of one state. Each
 * effect keeps its own row, its own answer and its own recovery. One that turns out not to write leaves; nothing waits
 * for anything but the others' last check before they write.
 */
export interface Together {
  /** Call it in the turn in which the effect begins. @param place effects of the same place share a request; it has the installation's id */
  join(place: string, installationId: number, urgency: Urgency): Seat;
}

export interface Seat {
  /** Its first write goes with those of the others. */
  writer(alone: GitHubWriter): GitHubWriter;
  /** It will not write any more. */
  leave(): void;
}

interface Waiting {
  repo: Repo;
  write: SharedWrite;
  resolve(written: Written): void;
  reject(error: unknown): void;
}

export function writesTogether(writers: Pick<Writers, 'shared'>): Together {
  const open = new Map<string, Group>();
  return {
    join(place, installationId, urgency) {
      const known = open.get(place);
      const group = known ?? new Group(writers, installationId);
      if (!known) {
        open.set(place, group);
        setImmediate(() => {
          open.delete(place);
          group.close();
        });
      }
      return group.seat(urgency);
    },
  };
}

class Group {
  readonly #writers: Pick<Writers, 'shared'>;
  readonly #installationId: number;
  #urgency: Urgency = 'background';
  #isClosed = false;
  /** Seats that have neither written nor left. */
  #awaited = 0;
  #waiting: Waiting[] = [];

  constructor(writers: Pick<Writers, 'shared'>, installationId: number) {
    this.#writers = writers;
    this.#installationId = installationId;
  }

  seat(urgency: Urgency): Seat {
    if (URGENCIES.indexOf(urgency) < URGENCIES.indexOf(this.#urgency)) this.#urgency = urgency;
    this.#awaited += 1;
    let isAwaited = true;
    const leave = () => {
      if (!isAwaited) return;
      isAwaited = false;
      this.#awaited -= 1;
      this.#sendIfAllAreHere();
    };
    const send = (repo: Repo, write: SharedWrite) =>
      new Promise<Written>((resolve, reject) => {
        this.#waiting.push({ repo, write, resolve, reject });
        leave();
      });
    return { leave, writer: (alone) => sharing(alone, () => isAwaited, send) };
  }

  close(): void {
    this.#isClosed = true;
    this.#sendIfAllAreHere();
  }

  #sendIfAllAreHere(): void {
    if (!this.#isClosed || this.#awaited > 0 || this.#waiting.length === 0) return;
    const sent = this.#waiting;
    this.#waiting = [];
    const [first] = sent;
    if (!first) return;
    void this.#writers
      .shared(this.#installationId, this.#urgency)
      .writeTogether(
        first.repo,
        sent.map(({ write }) => write),
      )
      .then(
        (results) => {
          for (const [index, { resolve, reject }] of sent.entries()) {
            const result = results[index];
            if (result?.status === 'fulfilled') resolve(result.value);
            else reject(result?.reason);
          }
        },
        (error) => {
          for (const { reject } of sent) reject(error);
        },
      );
  }
}

function sharing(
  alone: GitHubWriter,
  isFirst: () => boolean,
  send: (repo: Repo, write: SharedWrite) => Promise<Written>,
): GitHubWriter {
  return {
    ...alone,
    async createCheckRun(repo, content) {
      if (!isFirst()) return alone.createCheckRun(repo, content);
      const { id, nodeId, url } = await send(repo, { kind: 'create_check_run', content });
      return { id: created(id), nodeId, url };
    },
    async updateCheckRun(repo, id, content, nodeId) {
      if (!isFirst()) return alone.updateCheckRun(repo, id, content, nodeId);
      await send(repo, { kind: 'update_check_run', id, nodeId, content });
    },
    async createComment(repo, issue, body) {
      if (!isFirst()) return alone.createComment(repo, issue, body);
      const { id, nodeId, authorId } = await send(repo, { kind: 'create_comment', issue, body });
      return { id: created(id), nodeId, authorId };
    },
    async updateComment(repo, id, body, nodeId) {
      if (!isFirst()) return alone.updateComment(repo, id, body, nodeId);
      await send(repo, { kind: 'update_comment', id, nodeId, body });
      return 'updated';
    },
  };
}

function created(id: number | undefined): number {
  if (id === undefined) throw new Error('what was created has no id');
  return id;
}
