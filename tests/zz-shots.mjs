import { chromium } from "playwright-core";
const base = process.argv[2] ?? "http://127.0.0.1:3312"; const what = process.argv[3] ?? "all";
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--headless","--no-sandbox","--disable-gpu","--disable-quic","--no-first-run","--disable-background-networking","--disable-component-update","--disable-sync"] });
const problems=[];
async function tab(scheme="light", width=1280, height=860, touch=false){
  const ctx = await browser.newContext({ colorScheme: scheme, viewport:{width,height}, hasTouch: touch });
  const page = await ctx.newPage();
  page.on("console", m => { if(["error","warning"].includes(m.type())) problems.push(m.type()+": "+m.text()); });
  page.on("pageerror", e => problems.push("pageerror "+e.stack));
  page.on("request", r => { if(!r.url().startsWith(base)&&!r.url().startsWith(base.replace("http","ws"))&&!r.url().startsWith("data:")) problems.push("req "+r.url()); });
  await page.goto(base+"/"); return page;
}
const shot=(p,n,full=true)=>p.screenshot({path:`/tmp/shots/${n}.png`,fullPage:full});
async function login(p,name){ await p.fill(".login input",name); await p.click(".login button"); await p.waitForSelector(".who"); }
const sq=(p,r,c)=>p.click(`[data-square="${r},${c}"]`);
if(what==="all"||what==="ttt"){
 const a=await tab("light"); await shot(a,"home-empty-light"); await login(a,"Ann");
 const b=await tab("dark"); await login(b,"Bob");
 await a.click('[data-create="tic-tac-toe"]'); await a.waitForSelector(".square");
 await shot(a,"ttt-start-light");
 await b.waitForSelector(".room"); await b.waitForTimeout(300); await shot(b,"home-dark");
 const c=await tab("light",390,844,true); await c.waitForSelector(".room"); await shot(c,"home-phone-light");
 await c.click('.room button:has-text("Watch")'); await c.waitForSelector(".square");
 await b.click('.room button:has-text("Play")'); await b.waitForSelector(".square");
 const turn=(p)=>p.waitForSelector('.turn:has-text("Your turn")');
 const moves=[[a,0,0],[b,1,1],[a,0,1],[b,2,2]];
 for(const [p,r,k] of moves){ await turn(p); await sq(p,r,k);} await turn(a);
 await shot(a,"ttt-mid-light"); await shot(b,"ttt-mid-dark");
 await sq(a,0,2); await a.waitForSelector('.turn:has-text("You win")'); await b.waitForSelector('.result:not([hidden])');
 await shot(a,"ttt-win-light"); await shot(b,"ttt-loss-dark"); await shot(c,"ttt-phone-light");
 await a.context().close(); await b.context().close(); await c.context().close();
}
if(what==="all"||what==="cmd"){
 const a=await tab("dark",1380,960); await login(a,"Ann");
 await a.selectOption('.agent-command select >> nth=4',"live");
 await a.click('[data-create="agent-command"]'); await a.waitForSelector(".map[data-tick]");
 const id=(await a.url()).split("/").pop();
 await a.waitForTimeout(4000);
 await a.click('[data-group="worker"]'); await shot(a,"cmd-dark");
 await a.click('summary'); await a.waitForTimeout(200); await shot(a,"cmd-owner-dark");
 await a.click('[data-key="red air invite"]'); await a.waitForSelector("dialog"); await shot(a,"mint-dark",false); await a.click("dialog .primary");
 const o=await tab("light",1380,960); await login(o,"Olga"); await o.goto(base+"/#/observe/"+id); await o.waitForSelector(".map[data-tick]",{timeout:20000}).catch(e=>console.log("observer",e.message)); await o.waitForTimeout(1500); await shot(o,"cmd-observer-light");
 const w=await tab("light",390,844,true); await w.goto(base+"/#/watch/"+id+"/blue"); await w.waitForSelector(".map[data-tick]"); await w.waitForTimeout(800); await shot(w,"cmd-watch-phone-light");
 const f=await tab("dark",390,844,true); await login(f,"Fay"); await f.goto(base+"/#/play/"+id); await f.waitForSelector(".map[data-tick]"); await f.waitForTimeout(800); await shot(f,"cmd-play-phone-dark"); await f.close();
 await a.waitForTimeout(+(process.argv[4]??5)*1000); await shot(a,"cmd-later-dark"); await shot(o,"cmd-observer-later-light"); await shot(w,"cmd-watch-later-phone");
}
console.log(problems.join("\n")||"no problems");
await browser.close();
