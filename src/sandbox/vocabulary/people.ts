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
