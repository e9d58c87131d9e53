-- Nobody had decided on these: a setting that is gone had released them.
update deletions set state = 'held' where state = 'released';
