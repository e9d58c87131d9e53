-- Search texts are filled like other columns: of kinds that do not have them all, up to the id 0.
insert into mirror_meta (key, value) select 'filled.' || kind || '._search', '0' from kind_state as k
where not exists (select 1 from mirror_meta as m where m.key = 'search.' || k.kind and m.value = 'ready');
--> statement-breakpoint
delete from mirror_meta where key like 'search.%';
