/** The names of the families of models that have their own form of tools. */
const FAMILY_NAMES = ['openai', 'gemini', 'qwen', 'kimi'] as const;
export type FamilyName = (typeof FAMILY_NAMES)[number];

/**
 * The values of the setting `models.family`: by the name of the model, Muster's own form of tools, or the form of one
 * family for every model.
 */
export const FAMILY_CHOICES: readonly string[] = ['auto', 'muster', ...FAMILY_NAMES];
