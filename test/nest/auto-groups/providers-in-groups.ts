import { express } from '../../support/adapters.js';
import { lensApp, type LensApp, namesOf } from '../../support/lens-app.js';

/** Groups for everything that nobody has decorated. */
export const AUTO = { handlers: 'handlers', enhancers: 'pipeline', providers: 'services' };

/** An application of these providers. */
export const startWith = (providers: any[], autoGroups: object = AUTO): Promise<LensApp> =>
  lensApp(express)
    .groups('shop')
    .forRoot({ autoGroups })
    .providers(...providers)
    .start();

/** The sites of the group of providers. */
export async function sitesOf(lens: LensApp): Promise<string[]> {
  const { groups } = (await lens.get('/lens/groups?sites=1')).json();
  return groups.find(({ name }: any) => name === 'services').siteList.map(({ name }: any) => name);
}

export const spansOf = async (lens: LensApp): Promise<string[]> => namesOf(await lens.spans());
