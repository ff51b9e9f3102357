/** All views by name. */

import type { IDesk } from '../desk';
import { DiagnosticsView } from './diagnostics';
import { FactsView } from './facts';
import { InboxView } from './inbox';
import { StatusView } from './status';
import { UsageView } from './usage';
import type { View } from './view';
import { WhyView } from './why';

export const VIEWS = {
  facts: FactsView,
  review: InboxView,
  status: StatusView,
  diagnostics: DiagnosticsView,
  usage: UsageView,
  why: WhyView
} satisfies Record<string, new (desk: IDesk) => View>;

export type ViewName = keyof typeof VIEWS;
