import { words } from './words.ts';

export const FIRST_NAMES = words(`
  Marie-Ève, Geneviève, Émilie, Chloé, Noémie, Mélanie, Stéphanie, Joëlle, Hélène, Josée, Anaïs, Florence, Maude
  Isabelle, Nathalie, Sylvie, Amélie, Zoé, Jean-François, François, Frédéric, Jérôme, Benoît, Étienne, Félix, Rémi
  Cédric, Loïc, Raphaël, Sébastien, Mathieu, Olivier, Guillaume, Marc-André, Pierre-Luc, Yves, Réjean, Gaétan, Luc
`);

export const SURNAMES = words(`
  Arsenault, Beaulieu, Bélanger, Bérubé, Bouchard, Boucher, Caron, Charbonneau, Côté, Cyr, Desjardins, Deschênes
  Dubé, Dufour, Fortin, Fournier, Gagné, Gagnon, Gauthier, Gendron, Girard, Hébert, Jalbert, Labrecque, Lachance
  Lapointe, Lavoie, Leblanc, Lefebvre, Lemieux, Lévesque, Martel, Michaud, Morin, Nadeau, Ouellet, Paquette
  Pelletier, Perreault, Poirier, Proulx, Quirion, Rioux, Roy, Savard, Simard, St-Pierre, Théberge, Thériault
  Tremblay, Turcotte, Vachon, Vaillancourt, Veilleux, Verreault
`);

/** Names of small businesses; `*` stands for the family's name. */
export const BUSINESS_NAMES = words(`
  Garage * inc., Toitures * & Fils, Plomberie * ltée, Électricité * inc., Transport *, Paysagement *
  Les Entreprises * inc., Excavation * et frères, Ferme * S.E.N.C., Boulangerie *, Clinique vétérinaire *
  Construction * inc., Déneigement *, Location d'outils *, Résidence *, Traiteur *, Ébénisterie *
`);

export const JOB_TITLES = words(`
  Propriétaire, Directrice générale, Contremaître, Acheteur, Adjointe administrative, Répartiteur, Comptable
  Gérant de flotte, Chargée de projet, Mécanicien en chef
`);

export const CONTACT_DEPARTMENTS = words(
  'Administration, Achats, Comptes à payer, Flotte, Opérations, Réception, Entrepôt',
);

export interface Town {
  readonly city: string;
  readonly areaCode: string;
  /** First half of the postal code. */
  readonly sortationArea: string;
}

export const PLACES: readonly Town[] = [
  { city: 'Québec', areaCode: '418', sortationArea: 'G1K' },
  { city: 'Lévis', areaCode: '418', sortationArea: 'G6V' },
  { city: 'Montréal', areaCode: '514', sortationArea: 'H2X' },
  { city: 'Laval', areaCode: '450', sortationArea: 'H7N' },
  { city: 'Longueuil', areaCode: '450', sortationArea: 'J4K' },
  { city: 'Gatineau', areaCode: '819', sortationArea: 'J8X' },
  { city: 'Sherbrooke', areaCode: '819', sortationArea: 'J1H' },
  { city: 'Trois-Rivières', areaCode: '819', sortationArea: 'G9A' },
  { city: 'Saguenay', areaCode: '418', sortationArea: 'G7H' },
  { city: 'Rimouski', areaCode: '418', sortationArea: 'G5L' },
  { city: 'Saint-Jérôme', areaCode: '450', sortationArea: 'J7Y' },
  { city: 'Saint-Jean-sur-Richelieu', areaCode: '450', sortationArea: 'J3B' },
  { city: 'Rivière-du-Loup', areaCode: '418', sortationArea: 'G5R' },
  { city: 'Sept-Îles', areaCode: '418', sortationArea: 'G4R' },
  { city: 'Rouyn-Noranda', areaCode: '819', sortationArea: 'J9X' },
  { city: 'Drummondville', areaCode: '819', sortationArea: 'J2B' },
  { city: 'Thetford Mines', areaCode: '418', sortationArea: 'G6G' },
  { city: 'Baie-Saint-Paul', areaCode: '418', sortationArea: 'G3Z' },
  { city: "L'Ancienne-Lorette", areaCode: '418', sortationArea: 'G2E' },
  { city: 'Saint-Félicien', areaCode: '418', sortationArea: 'G8K' },
];

export const STREETS = words(`
  rue Saint-Jean, chemin Sainte-Foy, boulevard Laurier, rue de l'Église, rang Saint-Édouard, avenue du Pont
  boulevard Charest Est, rue Principale, chemin du Moulin, route 138, rue des Érables, montée Masson, 3e Avenue
  boulevard Pie-IX, rue Notre-Dame Ouest, chemin des Patriotes, rue King Est, boulevard René-Lévesque, rang du Nord
  rue Père-Marquette, côte de la Montagne, avenue Cartier, rue du Marché, chemin de la Canardière
`);

export const SUITES = words('app. 2, app. 4, bureau 210, local 3, porte B, C.P. 118, 2e étage');
