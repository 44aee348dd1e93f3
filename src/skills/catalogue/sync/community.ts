import { filesOf, type ParsedPackage } from '../../../domain/skill/package.ts';
import { parsePackage } from '../../../domain/skill/parse.ts';
import type { Skills } from '../../../ports/storage.ts';

/**
 * Reads the adopted packages of indexes. Called with every event, so it reads and parses only new ones: a
 * package's content never changes under its id. The list is the same one as long as they are the same.
 */
export function communitySkills(
  skills: Pick<Skills, 'adopted' | 'get'>,
): () => Promise<readonly ParsedPackage[]> {
  let known = new Map<string, ParsedPackage>();
  let last: readonly ParsedPackage[] = [];
  return async () => {
    const adopted = await skills.adopted();
    const inForce = new Map<string, ParsedPackage>();
    for (const { id, name, marketplaceId } of adopted) {
      inForce.set(id, known.get(id) ?? (await read(id, name, marketplaceId)));
    }
    known = inForce;
    const list = [...inForce.values()];
    const isSame = list.length === last.length && list.every((one, index) => one === last[index]);
    if (!isSame) last = list;
    return last;
  };

  async function read(id: string, name: string, marketplaceId: string): Promise<ParsedPackage> {
    const stored = await skills.get(id);
    return parsePackage(stored ? filesOf(stored) : [], `${marketplaceId}#${name}`, name);
  }
}
