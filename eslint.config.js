import regexp from 'eslint-plugin-regexp';
import tseslint from 'typescript-eslint';

export default tseslint.config(
  { ignores: ['dist/', 'node_modules/', 'data/', 'coverage/', 'eslint.config.js'] },
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true } },
    plugins: { regexp },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      'max-lines': ['error', { max: 300, skipBlankLines: true, skipComments: true }],
      'max-lines-per-function': ['error', { max: 60, skipBlankLines: true, skipComments: true }],
      'max-params': ['error', 4],
      'max-depth': ['error', 3],
      complexity: ['error', 12],
      'regexp/no-super-linear-backtracking': ['error', { report: 'potential' }],
      'regexp/no-super-linear-move': ['error', { report: 'potential' }],
      eqeqeq: 'error',
      'no-duplicate-imports': 'error',
      'no-console': 'error',
      'no-restricted-exports': ['error', { restrictDefaultExports: { direct: true } }],
      'no-restricted-syntax': [
        'error',
        {
          selector: "MemberExpression[object.name='process'][property.name='env']",
          message: 'Only src/main.ts reads the environment.',
        },
        { selector: 'ExportAllDeclaration', message: 'No barrels: import from the file that owns it.' },
      ],
      '@typescript-eslint/no-floating-promises': ['error', { checkThenables: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreVoidReturningFunctions: true }],
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
    },
  },
  {
    files: ['test/**', 'bench/**', 'scripts/**', '*.config.ts'],
    rules: {
      'regexp/no-super-linear-backtracking': 'off', // They read no stranger's text.
      'regexp/no-super-linear-move': 'off',
      'max-lines': 'off',
      'max-params': 'off', // A table of cases has as many as it has columns.
      'max-lines-per-function': 'off',
      'no-restricted-exports': 'off',
      'no-restricted-syntax': 'off',
      'no-console': 'off',
    },
  },
  // Run as they are, by browsers and by an older Node.
  {
    files: ['src/dashboard/assets/*.js', 'scripts/**/*.mjs', 'test/clients/probes/*.mjs'],
    ...tseslint.configs.disableTypeChecked,
  },
  { files: ['src/main.ts'], rules: { 'no-restricted-syntax': 'off' } },
);
