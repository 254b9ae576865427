// The views of the window, by the names that stand in addresses. Each has a page of Help of its name (renderer/views/help/pages).

export const viewNames = [
  'welcome',
  'datasets',
  'dataset',
  'new',
  'run',
  'runs',
  'queue',
  'compare',
  'hardware',
  'settings',
  'help',
  'about',
  'licences',
] as const;

export type ViewName = (typeof viewNames)[number];
