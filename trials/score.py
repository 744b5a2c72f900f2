#!/usr/bin/env python3
"""score.py BIN SETS STEPS [--reveal]"""
import json,os,subprocess,sys,glob,re,collections
from concurrent.futures import ThreadPoolExecutor
BIN=sys.argv[1]; SETS=sys.argv[2].split(','); STEPS=sys.argv[3].split(','); REVEAL='--reveal' in sys.argv
def truths(L):
    if L=='cases':
        out={}
        for f in glob.glob('cases/*.py'):
            n=os.path.basename(f)[:-3]
            if not (n.endswith('_leak') or n.endswith('_ok') or n=='server_growing_cache'): continue
            lines=[i for i,l in enumerate(open(f),1) if '# SITE' in l or '# ALSO' in l]
            m=re.search(r'([\d,]+) bytes per',open(f).read())
            out[n]={'truth':'leak' if not n.endswith('_ok') else 'sound','lines':lines,'bytes_per_unit':float(m.group(1).replace(',','')) if m else None,'program':n+'.py'}
        return out
    return {re.sub(r'\.\w+$','',t['program']):t for t in json.load(open(f'trials/{L}/truth.json'))}
def report(path):
    r=subprocess.run([BIN,'report',path,'--format','json'],capture_output=True,text=True)
    try: return json.loads(r.stdout)
    except Exception: return {'answer':'error','err':r.stderr[-300:],'sites':[],'ranking':[]}
def place(site):
    fr=site['frames']; i=site.get('blame_frame'); 
    return [(os.path.basename(f['file']),f['line']) for f in fr]
def named(site):
    fr=site['frames']; 
    i=site.get('naming_frame', site.get('blame_frame',0))
    if i is None or i>=len(fr): return ('',0)
    return (os.path.basename(fr[i]['file']),fr[i]['line'])
def job(a):
    L,n,t,s=a; path=f'traces/{L}/{n}.{s}'
    if not os.path.isdir(path): return None
    r=report(path)
    ans=r['answer']
    sites={x['id']:x for x in r['sites']}
    res=dict(L=L,n=n,s=s,truth=t['truth'],ans=ans,line=None,rate=None,why='')
    leaks=[sites[i] for i in r.get('ranking',[])]
    cands=leaks if ans=='leak' else [x for x in r['sites'] if x['verdict']=='insufficient_evidence']
    src=t.get('program','')
    if cands:
        c=cands[0]
        fr=c['frames']; i=c['blame_frame'] if c.get('blame_frame') is not None else 0
        f=fr[i] if i<len(fr) else {'file':'','line':0}
        res['where']=f"{os.path.basename(f['file'])}:{f['line']} {f.get('function','')}"
        lines=t.get('lines') or []
        res['line']= os.path.basename(f['file'])==src and (not lines or f['line'] in lines)
        res['rate']=c['group']['rate_bytes_per_step'] if c.get('group') else c['rate_bytes_per_step']
        res['obj']=c['group']['rate_objects_per_step'] if c.get('group') else c['rate_objects_per_step']
        res['nleaks']=len(leaks)
        res['all']=[(os.path.basename(x['frames'][x['blame_frame']]['file']) if x['frames'] else '', x['frames'][x['blame_frame']]['line'] if x['frames'] else 0, round((x['group'] or x)['rate_bytes_per_step'])) for x in leaks[:4]]
    if ans!='leak':
        best=None
        for d in r.get('devices',[]):
            for l in ((d.get('growth') or {}).get('lines') or []):
                if l['class']=='insufficient_evidence' and (best is None or l['bytes_per_step']>best['bytes_per_step']): best=l
        for g in ('pinned_growth','handle_growth'):
            for l in ((r.get(g) or {}).get('lines') or []):
                if best is None and l['class']=='insufficient_evidence': best=l
        if best:
            f,_,ln=best['line'].rpartition(':')
            res['where']=best['line']+' '+best['function']; res['rate']=best['bytes_per_step']
            res['line']=os.path.basename(f)==src and (not t.get('lines') or (ln.isdigit() and int(ln) in t['lines']))
        res['why']=[x['id'] for x in r.get('reasons',[])]
    res['steps']=(r.get('steps',{}).get('count'),r.get('steps',{}).get('source'),r.get('steps',{}).get('unit'))
    res['true_rate']=t.get('bytes_per_unit'); res['true_obj']=t.get('objects_per_unit')
    res['unsure']=r.get('unsure')
    return res
jobs=[(L,n,t,s) for L in SETS for n,t in sorted(truths(L).items()) for s in STEPS]
with ThreadPoolExecutor(2) as ex: out=[x for x in ex.map(job,jobs) if x]
c=collections.Counter()
for x in out:
    k=(x['L'] if REVEAL else '*',x['s'],x['truth'])
    c[k+('runs',)]+=1; c[k+(x['ans'],)]+=1
    if x['ans']=='leak' and x['truth']=='leak' and x['line']: c[k+('right line',)]+=1
    if x['ans']=='not_enough_evidence' and x['truth']=='leak' and x['line']: c[k+('suspect right',)]+=1
    bad=(x['truth']=='leak' and (x['ans']!='leak' or not x['line'])) or (x['truth']=='sound' and x['ans']!='no_leak')
    rate_off=''
    n,src_,unit=x['steps']
    rated=unit=='step' and n and abs(n-int(x['s']))<=max(3,.05*int(x['s']))
    if x['ans']=='leak' and x['truth']=='leak': c[k+('rated',)]+=bool(rated)
    if n==0: c[k+('no steps',)]+=1
    elif unit!='step': c[k+('windows',)]+=1
    elif not rated: c[k+('other steps',)]+=1
    if rated and x['truth']=='leak' and x['ans']=='leak' and x.get('true_rate'):
        tot=sum(a[2] for a in x['all'])
        if abs(x['rate']-x['true_rate'])>.05*x['true_rate']: rate_off=f"rate {x['rate']:.0f} (sum {tot}) true {x['true_rate']:.0f}"; c[k+('rate off',)]+=1
    if REVEAL and (bad or rate_off or '--all' in sys.argv):
        print(x['L'],x['n'],x['s'],x['truth'],'->',x['ans'],x.get('where'),'LINE' if x['line'] else 'line?',rate_off,x['steps'],'' if x['ans']=='leak' else x['why'])
for k in sorted(set(k[:3] for k in c)):
    print(*k,{kk[3]:v for kk,v in sorted(c.items()) if kk[:3]==k})
