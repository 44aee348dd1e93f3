export const FOLDER = '.github/countersign';
export const CHAINS_FOLDER = `${FOLDER}/chains`;
export const SKILLS_FOLDER = `${FOLDER}/skills`;
export const SETTINGS_FILE = '.github/countersign.yml';
/** A likely slip of the pen. It is not read beside the right one, as two files could then contradict each other. */
export const MISNAMED_SETTINGS = '.github/countersign.yaml';
/** The repository that holds what an organisation gives all its repositories. */
export const ORGANISATION_REPOSITORY = '.github';
/** Where an organisation's `.github` repository keeps its chains and skills, beside its default settings. */
export const ORGANISATION_CHAINS = 'countersign/chains';
export const ORGANISATION_SKILLS = 'countersign/skills';

const IS_YAML = /\.ya?ml$/;

/** Whether chains are read from there: directly in the folder, so that a name alone tells one file from another. */
export function isChainFile(path: string, folder = CHAINS_FOLDER): boolean {
  return path.slice(0, path.lastIndexOf('/')) === folder && IS_YAML.test(path);
}

export type ConfigurationFile = 'settings' | 'misnamed settings' | 'chain' | 'misplaced chain';

/**
 * What a path from a repository's root stands for, skills left aside. What is misnamed or misplaced is never read: whoever put it
 * there has to be told. `undefined` for everything else.
 */
export function configurationFile(path: string): ConfigurationFile | undefined {
  if (path === SETTINGS_FILE) return 'settings';
  if (path === MISNAMED_SETTINGS) return 'misnamed settings';
  if (isChainFile(path)) return 'chain';
  return path.startsWith(`${CHAINS_FOLDER}/`) && IS_YAML.test(path) ? 'misplaced chain' : undefined;
}
